import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import type { Page } from '../../platform/data/lists/page.js';
import { RecordList } from '../../platform/data/lists/record-list.js';
import { erasureLockSql } from '../../platform/data/records/record-removal.service.js';
import { TenantRepository } from '../../platform/data/records/tenant-repository.js';
import type { DeliveryDto, DeliveryListQuery, DeliveryStatus } from './delivery.dto.js';
import { Delivery, ERASED_BODY } from './delivery.entity.js';
import type { Webhook } from './webhook.entity.js';

/** Rows that one statement removes. Small batches keep locks short. */
const BATCH = 1_000;

/** An event to be delivered. `created_at` is when the record was changed. Test events have none. */
export type NewEvent = Required<Pick<Delivery, 'event_id' | 'type' | 'record_id' | 'body'>> &
  Partial<Pick<Delivery, 'created_at' | 'traceparent'>>;

/** An event for a webhook. */
export type NewDelivery = NewEvent & Pick<Delivery, 'webhook_id'>;

/** A webhook, with the events that it chooses and its scopes. A disabled one receives no later events. */
export type Receiver = Readonly<
  Required<Pick<Webhook, 'id' | 'types' | 'changed' | 'filter' | 'scopes'>>
> & {
  readonly disabled_at: Date | null;
};

/** A delivery that is due, with the data of its request. */
export type DueDelivery = Readonly<
  Required<Pick<Delivery, 'id' | 'event_id' | 'type' | 'body' | 'attempts' | 'traceparent'>> &
    Required<Pick<Webhook, 'url' | 'secret' | 'previous_secret'>>
>;

/** What the receiver replied to one attempt, or why there was no response. `error` is null if the attempt succeeded. */
export type AttemptResult = Pick<
  Delivery,
  'duration_ms' | 'response_status' | 'response_body' | 'error'
>;

/** The state of a delivery after an attempt. */
export interface Outcome {
  readonly status: DeliveryStatus;
  /** The time until the next attempt of a pending one. */
  readonly retryMs?: number;
}

/**
 * Locks the rows of webhooks until the transaction ends, so that transactions which add or end deliveries of a webhook
 * run one after another. Otherwise one could add a delivery that waits for another delivery of its record while a second
 * one ends this other delivery, and the first would wait forever. It also waits for erasures. Under READ COMMITTED, later
 * statements of the transaction see what those before have committed.
 */
const LOCK = `select id, enabled, ${erasureLockSql('$1', '_shared')} from webhooks
  where organization_id = $1 and id = any($2::uuid[])
  order by id for no key update`;

/**
 * Deliveries `$2` as JSON, in their order; `$3`: whether they are of a job. A webhook gets no events of changes that were
 * made before it was created. A disabled one gets those of changes that were made before it was disabled. That time is not
 * stored: `updated_at` is it or a later one. Test events have no time of a change. Of the deliveries of a record, only the
 * first one can be due. Of a record that was erased after the change, whose event was read before, only the id is stored.
 */
const INSERT = `
  with fresh as (
    select delivery.* from rows from (json_to_recordset($2) as (id uuid, webhook_id uuid, record_id uuid,
        event_id text, type text, body text, created_at timestamptz, traceparent text)) with ordinality
      as delivery (id, webhook_id, record_id, event_id, type, body, created_at, traceparent, number)
    join webhooks webhook on webhook.id = delivery.webhook_id
    where organization_id = $1 and coalesce(delivery.created_at >= webhook.created_at, true) and (enabled or delivery.created_at <= webhook.updated_at)
      and not exists (select from webhook_deliveries known where organization_id = $1
      and known.webhook_id = delivery.webhook_id and known.event_id = delivery.event_id))
  insert into webhook_deliveries
    (organization_id, id, webhook_id, record_id, event_id, type, body, traceparent, is_bulk, next_attempt_at)
  select $1, id, webhook_id, record_id, event_id, type,
    case when exists (select from erasures where organization_id = $1
        and erasures.record_id = fresh.record_id and erased_at >= fresh.created_at)
      then ${ERASED_BODY} else body end, traceparent,
    $3::boolean, case when row_number() over (partition by webhook_id, record_id order by number) = 1
      and not exists (select from webhook_deliveries pending where organization_id = $1
        and pending.webhook_id = fresh.webhook_id and pending.record_id = fresh.record_id
        and pending.status = 'pending') then now() end
  from fresh order by number
  returning id`;

const DUE = `
  select due.*, webhook.url, webhook.secret,
    case when previous_secret_expires_at > now() then previous_secret end as previous_secret
  from webhooks webhook cross join lateral (
    select id, event_id, type, body, attempts, traceparent from webhook_deliveries
    where organization_id = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at <= now()
      and id <> all($3::uuid[])
    order by is_bulk, next_attempt_at, seq limit $4) due
  where organization_id = $1 and webhook.id = $2 and enabled`;

/**
 * Stores an attempt of a pending delivery, and makes the next one of its record due if it has ended. The answer to a body
 * that was erased meanwhile is not stored: the stored body then has another size than `$8`, that of the sent one.
 */
const STORE = `
  with attempted as (
    update webhook_deliveries set attempts = attempts + 1, last_attempt_at = now(), duration_ms = $3, response_status = $4,
      response_body = case when octet_length(body) = $8 then $5 end, error = $6, status = $7,
      next_attempt_at = now() + $9 * interval '1 ms', updated_at = date_trunc('milliseconds', now())
    where organization_id = $1 and id = $2 and status = 'pending'
    returning webhook_id, record_id, status)
  update webhook_deliveries set next_attempt_at = now()
  where organization_id = $1 and id = (
    select next.id from attempted join webhook_deliveries next
      on next.webhook_id = attempted.webhook_id and next.record_id = attempted.record_id
    where attempted.status <> 'pending' and organization_id = $1 and next.status = 'pending' and next.id <> $2
    order by next.seq limit 1)`;

const IS_OF_WEBHOOK = 'organization_id = $1 and webhook_id = $2 and id = $3';

const REQUEUE = `
  update webhook_deliveries delivery
  set status = 'pending', seq = default, attempts = 0, updated_at = date_trunc('milliseconds', now()),
    next_attempt_at = case when not exists (select from webhook_deliveries other
      where organization_id = $1 and other.webhook_id = $2 and other.record_id = delivery.record_id
        and other.status = 'pending') then now() end
  where ${IS_OF_WEBHOOK} and status <> 'pending' returning id`;

const MAKE_DUE = `
  update webhook_deliveries set next_attempt_at = case when next_attempt_at is not null then now() end
  where ${IS_OF_WEBHOOK} and status = 'pending' returning id`;

/** SQL of deliveries: their list, their queue in order for each webhook and record, and their outcomes. */
@Injectable()
export class DeliveriesRepository extends TenantRepository<Delivery> {
  private readonly items = new RecordList<DeliveryDto>(this.database, { entity: Delivery });

  constructor(database: TenantDatabase) {
    super(database, Delivery);
  }

  /** @throws ApiError `query_failed` */
  list(
    call: TenantCall,
    webhookId: string,
    { status, ...query }: DeliveryListQuery,
  ): Promise<Page<DeliveryDto>> {
    const conditions = new Conditions(call, this.table.notDeleted)
      .equal('webhook_id', webhookId, 'uuid')
      .equal('status', status);
    return this.items.page(conditions, query);
  }

  /**
   * The webhooks of an organization.
   * @throws ApiError `query_failed`
   */
  receivers(call: TenantCall): Promise<Receiver[]> {
    return this.database.read(call, {
      text: `select id, types, changed, filter, scopes, case when not enabled then updated_at end as disabled_at
        from webhooks where organization_id = $1`,
      values: [call.tenant.id],
    });
  }

  /**
   * Queues events for webhooks, those of a job behind other events. Call it in a transaction, with the events of a
   * record in their order.
   * @returns the webhooks of these that are enabled, and the ids of the new deliveries
   * @throws ApiError `create_failed`
   */
  async add(
    call: InTransaction,
    events: readonly NewDelivery[],
    isBulk: boolean,
  ): Promise<{ webhooks: string[]; deliveries: string[] }> {
    const locked = await lock(call, [...new Set(events.map(({ webhook_id }) => webhook_id))]);
    const deliveries = events.map((event) => ({ id: uuidv7(), ...event }));
    const values = [call.tenant.id, JSON.stringify(deliveries), isBulk];
    const rows = await call.transaction.query<{ id: string }>({ text: INSERT, values });
    return {
      webhooks: locked.filter(({ enabled }) => enabled).map(({ id }) => id),
      deliveries: rows.map(({ id }) => id),
    };
  }

  /**
   * The deliveries of an enabled webhook that are due, ordinary ones before those of jobs, at most one of each record.
   * @param running deliveries to leave out
   * @throws ApiError `query_failed`
   */
  findDue(
    call: TenantCall,
    webhookId: string,
    running: readonly string[],
    limit: number,
  ): Promise<DueDelivery[]> {
    const values = [call.tenant.id, webhookId, running, limit];
    return this.database.read<DueDelivery>(call, { text: DUE, values, plan: 'index' });
  }

  /**
   * The time until the next delivery of an enabled webhook is due; undefined if there is none.
   * @throws ApiError `query_failed`
   */
  async secondsUntilDue(call: TenantCall, webhookId: string): Promise<number | undefined> {
    const [row] = await this.database.read<{ seconds: number | null }>(call, {
      text: `select ceil(extract(epoch from min(next_attempt_at) - now()))::int as seconds
        from webhook_deliveries
        where organization_id = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at is not null
          and exists (select from webhooks where organization_id = $1 and id = $2 and enabled)`,
      values: [call.tenant.id, webhookId],
      plan: 'index',
    });
    return row?.seconds === null || !row ? undefined : Math.max(0, row.seconds);
  }

  /**
   * Stores an attempt.
   * @throws ApiError `create_failed`
   */
  async store(
    call: TenantCall,
    webhookId: string,
    { id, body }: Pick<DueDelivery, 'id' | 'body'>,
    { duration_ms, response_status, response_body, error }: AttemptResult,
    { status, retryMs }: Outcome,
  ): Promise<void> {
    const result = [duration_ms, response_status, response_body, error, status];
    const values = [call.tenant.id, id, ...result, Buffer.byteLength(body), retryMs];
    if (status === 'pending') {
      await this.database.write(call, { text: STORE, values, plan: 'index' });
      return;
    }
    await this.database.transaction(call, async (inner) => {
      const { transaction } = inner;
      await lock(inner, [webhookId]);
      if (status === 'succeeded') {
        await transaction.query({
          text: `update webhooks set failing_since = null
            where organization_id = $1 and id = $2 and failing_since is not null`,
          values: [call.tenant.id, webhookId],
        });
      }
      await transaction.query({ text: STORE, values });
    });
  }

  /**
   * Queues an ended delivery again, as the last one of its record. Makes a pending one due now, unless it
   * waits for an earlier one. Call it in a transaction.
   * @returns whether the delivery exists
   * @throws ApiError `create_failed`
   */
  async requeue(call: InTransaction, webhookId: string, id: string): Promise<boolean> {
    const { transaction } = call;
    await lock(call, [webhookId]);
    const values = [call.tenant.id, webhookId, id];
    const ended = await transaction.query({ text: REQUEUE, values });
    if (ended.length > 0) return true;
    return (await transaction.query({ text: MAKE_DUE, values })).length > 0;
  }

  /**
   * Makes the waiting retries of a webhook due now. Call it in a transaction.
   * @throws ApiError `create_failed`
   */
  async resume(call: InTransaction, webhookId: string): Promise<void> {
    await call.transaction.query({
      text: `update webhook_deliveries set next_attempt_at = now()
        where organization_id = $1 and webhook_id = $2 and status = 'pending' and next_attempt_at is not null`,
      values: [call.tenant.id, webhookId],
    });
  }

  /**
   * Removes the deliveries of an organization that are older than a number of milliseconds.
   * @throws ApiError `create_failed`
   */
  async removeOld(call: TenantCall, retentionMs: number): Promise<void> {
    const text = `delete from webhook_deliveries where organization_id = $1 and id = any(array(
        select id from webhook_deliveries
        where organization_id = $1 and created_at < now() - $2 * interval '1 ms' limit ${BATCH}))
      returning 1`;
    const statement = { text, values: [call.tenant.id, retentionMs] };
    while ((await this.database.write(call, statement)).length === BATCH);
  }
}

function lock({ tenant, transaction }: InTransaction, webhooks: readonly string[]) {
  return transaction.query<Pick<Webhook, 'id' | 'enabled'>>({
    text: LOCK,
    values: [tenant.id, webhooks],
  });
}
