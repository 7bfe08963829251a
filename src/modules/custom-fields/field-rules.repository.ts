import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import {
  type EnforcedRule,
  type FieldRule,
  isStored,
  valueColumnOf,
  VALUE_KINDS,
} from './field-rule.js';

/** Stored leads that do not fit a rule. */
export interface Misfits {
  readonly count: number;
  /** Some of their ids. */
  readonly ids: readonly string[];
}

/** A lead that has a unique value. */
export interface FieldHolder {
  readonly field: string;
  readonly id: string;
}

/** How many leads one transaction checks. Small batches keep locks short. */
const BATCH = 2_000;

/** How many ids of leads an error names. */
export const MAX_NAMED = 10;

/** How long a change of a definition may be silent before it counts as abandoned. */
const LEASE = `interval '30 seconds'`;

const RULE = 'id, field_id, key, type, options, required, is_unique, is_filterable';

/** The leads of a batch: those after `$2` up to `$3`, if there is an end. */
const IN_BATCH = `organization_id = $1 and ($2::uuid is null or id > $2) and ($3::uuid is null or id <= $3)
  and deleted_at is null and custom_fields -> $4::text <> 'null'`;

/** SQL of the rules of custom fields, and of the values of fields that are unique or filterable. */
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
  async insert(
    call: InTransaction,
    rule: FieldRule,
    status: 'pending' | 'active' | 'dry_run',
  ): Promise<void> {
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
   * Checks a batch of leads, and stores their values if the rule asks for it. Concurrent writers of these leads wait.
   * @param after the last lead of the batch before
   * @returns the last lead of the batch, undefined at the end; the leads that do not fit; and undefined if another change
   *   has ended this one
   * @throws ApiError `create_failed`
   */
  checkBatch(call: TenantCall, rule: FieldRule, after: string | null) {
    return this.database.transaction(call, async (inner) => {
      const { transaction, tenant } = inner;
      const [held] = await transaction.query({
        text: `update custom_field_rules set leased_until = now() + ${LEASE}
          where organization_id = $1 and id = $2 and status <> 'active' returning id`,
        values: [tenant.id, rule.id],
      });
      if (!held) return undefined;
      const [end] = await transaction.query<{ id: string }>({
        text: `select id from leads where organization_id = $1 and ($2::uuid is null or id > $2)
          order by id offset ${BATCH - 1} limit 1`,
        values: [tenant.id, after],
        plan: 'index',
      });
      const range = [tenant.id, after, end?.id ?? null, rule.key];
      const unfit = await this.findUnfit(inner, range, rule);
      const collided = isStored(rule) ? await this.storeValues(inner, range, rule) : [];
      return { last: end?.id, unfit, collided };
    });
  }

  private async findUnfit(
    { transaction }: InTransaction,
    range: readonly unknown[],
    rule: FieldRule,
  ): Promise<Misfits> {
    // The values are stored by a later statement, which sees what others have written until then.
    if (isStored(rule)) {
      const text = `select from leads where ${IN_BATCH} order by id for share`;
      await transaction.query({ text, values: range });
    }
    const [unfit] = await transaction.query<Misfits>({
      text: `with unfit as (select id from leads where ${IN_BATCH}
            and custom_field_problem($5::text, $6::text[], $7::boolean, custom_fields -> $4) is not null)
        select (select count(*)::int from unfit) as count,
          array(select id from unfit order by id limit ${MAX_NAMED}) as ids`,
      values: [...range, rule.type, rule.options, isStored(rule)],
    });
    return unfit ?? { count: 0, ids: [] };
  }

  /** @returns the leads whose unique value is stored for another lead, and these */
  private async storeValues(
    { transaction }: InTransaction,
    range: readonly unknown[],
    { id, type, options, is_unique }: FieldRule,
  ): Promise<string[]> {
    const rows = await transaction.query<{ lead_id: string }>({
      text: `with lead as materialized (select id, custom_fields -> $4 as given from leads where ${IN_BATCH}
            and custom_field_problem($5::text, $6::text[], true, custom_fields -> $4) is null),
          added as (insert into custom_field_values
            select $1::uuid, lead.id, $7::uuid, item_position, $8::boolean, item_text, item_number, item_date, item_time
            from lead cross join lateral custom_field_rows($5, given)
            on conflict do nothing returning lead_id)
        select id as lead_id from lead where $8::boolean
          and id not in (select lead_id from added)
          and id not in (select lead_id from custom_field_values where organization_id = $1 and rule_id = $7)`,
      values: [...range, type, options, id, is_unique],
      plan: 'custom',
    });
    if (rows.length === 0) return [];
    const ids = rows.map((row) => row.lead_id);
    const column = valueColumnOf(type);
    const holders = await transaction.query<{ lead_id: string }>({
      text: `select distinct held.lead_id from custom_field_values held
        where organization_id = $1 and rule_id = $2 and ${column} in (
          select ${column.replace('_value', '')} from (
            select item_text as text, item_number as number, item_date as date, item_time as time
            from leads cross join lateral custom_field_rows($3, custom_fields -> $4)
            where organization_id = $1 and id = any($5)) given)`,
      values: [range[0], id, type, range[3], ids],
      plan: 'custom',
    });
    return [...ids, ...holders.map((row) => row.lead_id)];
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
   * @returns whether the rule exists no longer
   * @throws ApiError `create_failed`
   */
  async withdraw(call: InTransaction, id: string, isAbandoned: boolean): Promise<boolean> {
    const values = [call.tenant.id, id];
    await call.transaction.query({
      text: `delete from custom_field_rules where organization_id = $1 and id = $2 and status <> 'active'
        and (not $3 or leased_until < now())`,
      values: [...values, isAbandoned],
    });
    const left = await call.transaction.query({
      text: 'select from custom_field_rules where organization_id = $1 and id = $2',
      values,
    });
    return left.length === 0;
  }

  /**
   * Removes the values of a rule that exists no longer.
   * @throws ApiError `create_failed`
   */
  async removeValues(call: TenantCall, ruleId: string): Promise<void> {
    for (const kind of VALUE_KINDS) {
      let removed: unknown[];
      do {
        removed = await this.database.write(call, {
          text: `delete from custom_field_values where organization_id = $1 and ctid = any(array(
            select ctid from custom_field_values where organization_id = $1 and rule_id = $2
              and ${kind}_value is not null limit ${BATCH})) returning lead_id`,
          values: [call.tenant.id, ruleId],
        });
      } while (removed.length === BATCH);
    }
  }

  /**
   * The leads that have unique values.
   * @param values values that fit their rules, which are unique
   * @throws ApiError `create_failed`, because it is part of a write
   */
  async findHolders(
    call: TenantCall,
    values: readonly { readonly rule: FieldRule; readonly value: unknown }[],
  ): Promise<FieldHolder[]> {
    const found = values.map(async ({ rule: { id, key, type }, value }) => {
      const column = valueColumnOf(type);
      const item = column.replace('_value', '');
      const [holder] = await this.database.readForWrite<{ lead_id: string }>(call, {
        text: `select lead_id from custom_field_values where organization_id = $1 and rule_id = $2 and is_unique
          and ${column} = (select item_${item} from custom_field_rows($3, $4))`,
        values: [call.tenant.id, id, type, JSON.stringify(value)],
        plan: 'index',
      });
      return holder ? [{ field: `custom_fields.${key}`, id: holder.lead_id }] : [];
    });
    return (await Promise.all(found)).flat();
  }
}
