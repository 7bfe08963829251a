import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { EnforcedRule, FieldRule } from './field-rule.js';

/** `dry_run` is enforced by nothing, and keeps other changes away. */
type RuleStatus = 'pending' | 'active' | 'dry_run';

/** How long a change of a definition may be silent before it counts as abandoned. */
const LEASE = `interval '30 seconds'`;

const RULE = 'id, field_id, key, type, options, required, is_unique, is_filterable';

/** SQL of the rules of custom fields. */
@Injectable()
export class FieldRulesRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * The rules that the trigger enforces, in the order of their keys.
   * @throws ApiError `query_failed`
   */
  findEnforced(call: TenantCall): Promise<EnforcedRule[]> {
    return this.database.read<EnforcedRule>(call, {
      text: `select ${RULE}, status, named.label, named.description from custom_field_rules rule
        left join lateral (select label, description from custom_fields
          where organization_id = $1 and id = rule.field_id) named on true
        where organization_id = $1 and status <> 'dry_run' order by key, id`,
      values: [call.tenant.id],
    });
  }

  /**
   * Lets one transaction at a time begin a change of the definitions of an organization, and removes what a crash has left.
   * @returns whether another change is going on
   * @throws ApiError `create_failed`
   */
  async lock(call: InTransaction): Promise<boolean> {
    const values = [call.tenant.id];
    const text = `select pg_advisory_xact_lock(hashtextextended('custom fields ' || $1, 0))`;
    await call.transaction.query({ text, values });
    const unfinished = `custom_field_rules where organization_id = $1 and status <> 'active'`;
    await call.transaction.query({
      text: `delete from ${unfinished} and leased_until < now()`,
      values,
    });
    const running = await call.transaction.query({ text: `select from ${unfinished}`, values });
    return running.length > 0;
  }

  /**
   * The number of definitions, and the id of the one with this key.
   * @throws ApiError `create_failed`
   */
  async findDefined(call: InTransaction, key: string) {
    const [row] = await call.transaction.query<{ count: number; id: string | null }>({
      text: `select count(*)::int as count, (array_agg(id) filter (where key = $2))[1] as id
        from custom_fields where organization_id = $1 and deleted_at is null`,
      values: [call.tenant.id, key],
    });
    return row ?? { count: 0, id: null };
  }

  /** @throws ApiError `create_failed` */
  async insert(call: InTransaction, rule: FieldRule, status: RuleStatus): Promise<void> {
    const { id, field_id, key, type, options, required, is_unique, is_filterable } = rule;
    await call.transaction.query({
      text: `insert into custom_field_rules (organization_id, ${RULE}, status, leased_until)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + ${LEASE})`,
      values: [
        ...[call.tenant.id, id, field_id, key, type, options],
        ...[required, is_unique, is_filterable, status],
      ],
    });
  }

  /**
   * The transactions that can have read the rules before now: those with a number below this one that are running.
   * @throws ApiError `create_failed`
   */
  async nextTransaction(call: TenantCall): Promise<string> {
    const text = 'select pg_snapshot_xmax(pg_current_snapshot())::text as next';
    const [row] = await this.database.readForWrite<{ next: string }>(call, { text, values: [] });
    return row?.next ?? '0';
  }

  /**
   * Whether all transactions with a lower number have ended.
   * @throws ApiError `create_failed`
   */
  async haveEnded(call: TenantCall, next: string): Promise<boolean> {
    const text = 'select pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 as ended';
    const values = [next];
    const [row] = await this.database.readForWrite<{ ended: boolean }>(call, { text, values });
    return row?.ended ?? false;
  }

  /**
   * Tells that the change of a rule goes on.
   * @returns whether no other change has ended it
   * @throws ApiError `create_failed`
   */
  async renewLease(call: InTransaction, id: string): Promise<boolean> {
    const [held] = await call.transaction.query({
      text: `update custom_field_rules set leased_until = now() + ${LEASE}
        where organization_id = $1 and id = $2 and status <> 'active' returning id`,
      values: [call.tenant.id, id],
    });
    return held !== undefined;
  }

  /**
   * Ends a change: its rule replaces those that its field had.
   * @returns the replaced rules; undefined if another change has ended this one
   * @throws ApiError `create_failed`
   */
  async activate(call: InTransaction, { id, field_id }: FieldRule): Promise<string[] | undefined> {
    const values = [call.tenant.id, id];
    const activated = await call.transaction.query({
      text: `update custom_field_rules set status = 'active', leased_until = null
        where organization_id = $1 and id = $2 and status = 'pending' returning id`,
      values,
    });
    if (activated.length === 0) return undefined;
    const replaced = await call.transaction.query<{ id: string }>({
      text: `delete from custom_field_rules where organization_id = $1 and field_id = $3 and id <> $2 returning id`,
      values: [...values, field_id],
    });
    return replaced.map((rule) => rule.id);
  }

  /**
   * Removes the rules of a field.
   * @returns their ids
   * @throws ApiError `create_failed`
   */
  async removeOfField(call: InTransaction, fieldId: string): Promise<string[]> {
    const removed = await call.transaction.query<{ id: string }>({
      text: 'delete from custom_field_rules where organization_id = $1 and field_id = $2 returning id',
      values: [call.tenant.id, fieldId],
    });
    return removed.map(({ id }) => id);
  }

  /**
   * Removes a rule that is not active.
   * @param isAbandoned whether only if its change has ended without a result
   * @returns the status of the rule; undefined if it exists no longer
   * @throws ApiError `create_failed`
   */
  async withdraw(
    call: InTransaction,
    id: string,
    isAbandoned: boolean,
  ): Promise<RuleStatus | undefined> {
    const values = [call.tenant.id, id];
    await call.transaction.query({
      text: `delete from custom_field_rules where organization_id = $1 and id = $2 and status <> 'active'
        and (not $3 or leased_until < now())`,
      values: [...values, isAbandoned],
    });
    const [left] = await call.transaction.query<{ status: RuleStatus }>({
      text: 'select status from custom_field_rules where organization_id = $1 and id = $2',
      values,
    });
    return left?.status;
  }
}
