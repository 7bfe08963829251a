import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { type FieldRule, isStored, valueColumnOf, VALUE_KINDS } from './field-rule.js';

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

/** The leads of a batch: those after `$2` up to `$3`, if there is an end. */
const IN_BATCH = `organization_id = $1 and ($2::uuid is null or id > $2) and ($3::uuid is null or id <= $3)
  and deleted_at is null and custom_fields -> $4::text <> 'null'`;

/** SQL of the values of custom fields: those of leads, and the stored ones of fields that are unique or filterable. */
@Injectable()
export class FieldValuesRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Checks a batch of leads, and stores their values if the rule asks for it. Concurrent writers of these leads wait.
   * @param after the last lead of the batch before
   * @returns the last lead of the batch, undefined at the end; and the leads that do not fit
   * @throws ApiError `create_failed`
   */
  async checkBatch(call: InTransaction, rule: FieldRule, after: string | null) {
    const { transaction, tenant } = call;
    const [end] = await transaction.query<{ id: string }>({
      text: `select id from leads where organization_id = $1 and ($2::uuid is null or id > $2)
        order by id offset ${BATCH - 1} limit 1`,
      values: [tenant.id, after],
      plan: 'index',
    });
    const range = [tenant.id, after, end?.id ?? null, rule.key];
    const unfit = await this.findUnfit(call, range, rule);
    const collided = isStored(rule) ? await this.storeValues(call, range, rule) : [];
    return { last: end?.id, unfit, collided };
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
