import { Injectable } from '@nestjs/common';
import { AuditLog, insertAuditEntries } from '../../platform/data/audit/audit-log.js';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { NEXT_UPDATED_AT } from '../../platform/data/records/record-sql.js';
import { TenantRepository } from '../../platform/data/records/tenant-repository.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import type { Page } from '../../platform/data/lists/page.js';
import { RecordList } from '../../platform/data/lists/record-list.js';
import type { DisabledReason, WebhookDto } from './webhook.dto.js';
import { Webhook } from './webhook.entity.js';

const LOCK_COUNT = `select pg_advisory_xact_lock(hashtextextended('count webhooks ' || $1, 0))`;

/** SQL of webhooks. */
@Injectable()
export class WebhooksRepository extends TenantRepository<Webhook> {
  private readonly items = new RecordList<WebhookDto>(this.database, { entity: Webhook });

  constructor(
    database: TenantDatabase,
    private readonly audit: AuditLog,
  ) {
    super(database, Webhook);
  }

  /** @throws ApiError `query_failed` */
  list(call: TenantCall, query: ListQuery): Promise<Page<WebhookDto>> {
    return this.items.page(new Conditions(call, this.table.notDeleted), query);
  }

  /**
   * Counts the webhooks of an organization, and lets other transactions that count them wait for the end of this one, so
   * that two creates cannot both be the last one that is allowed.
   * @throws ApiError `create_failed`
   */
  async lockAndCount({ transaction, tenant: { id } }: InTransaction): Promise<number> {
    const values = [id];
    await transaction.query({ text: LOCK_COUNT, values });
    const text = 'select count(*)::int as count from webhooks where organization_id = $1';
    const [row] = await transaction.query<{ count: number }>({ text, values });
    return row?.count ?? 0;
  }

  /**
   * Removes a webhook with its deliveries.
   * @returns whether it existed
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  remove(call: TenantCall, id: string): Promise<boolean> {
    return this.writeOne(call, id, {
      text: `delete from webhooks where ${this.isRecord} returning id`,
      values: [call.tenant.id, id],
      plan: 'index',
    });
  }

  /**
   * Replaces the secret. Events are signed with the old one as well for 24 hours.
   * @returns whether the webhook existed
   * @throws ApiError `precondition_failed`, `create_failed`
   */
  rotateSecret(call: TenantCall, id: string, secret: string): Promise<boolean> {
    return this.writeOne(call, id, {
      text: `update webhooks set previous_secret = secret, secret = $3, updated_at = ${NEXT_UPDATED_AT},
          previous_secret_expires_at = now() + interval '24 hours'
        where ${this.isRecord} returning id`,
      values: [call.tenant.id, id, secret],
      plan: 'index',
    });
  }

  /**
   * Disables a webhook, with an entry of the audit log.
   * @returns whether it was enabled
   * @throws ApiError `create_failed`
   */
  async disable(call: TenantCall, id: string, reason: DisabledReason): Promise<boolean> {
    const entries = this.disabling(call, id);
    const disabled = await this.database.write(call, {
      text: `with disabled as (
          update webhooks set enabled = false, disabled_reason = $3, updated_at = ${NEXT_UPDATED_AT}
          where ${this.isRecord} and enabled returning id),
        entries as (${insertAuditEntries('$1', '$4', 'exists (select from disabled)')})
        select id from disabled`,
      values: [call.tenant.id, id, reason, entries.json],
      plan: 'index',
    });
    if (disabled.length > 0) entries.publish();
    return disabled.length > 0;
  }

  /**
   * Stores that an attempt failed, and disables a webhook that has failed for three days or whose receiver is gone.
   * `failing_since` is the time of the first failure since the last success, which clears it (`DeliveriesRepository`). An
   * answer that the receiver is gone is no failure to deliver.
   * @returns why the webhook was disabled; undefined if it was not
   * @throws ApiError `create_failed`
   */
  async storeFailure(
    call: TenantCall,
    id: string,
    isGone: boolean,
  ): Promise<DisabledReason | undefined> {
    const entries = this.disabling(call, id);
    const [failed] = await this.database.write<{ reason: DisabledReason | null }>(call, {
      text: `with failed as (update webhooks set enabled = reason is null, disabled_reason = reason,
          failing_since = case when reason = 'gone' then failing_since else coalesce(failing_since, now()) end,
          updated_at = case when reason is null then updated_at else ${NEXT_UPDATED_AT} end
        from (select case when $3 then 'gone' when failing_since < now() - interval '3 days' then 'failing' end as reason
          from webhooks where ${this.isRecord} for no key update) failure
        where ${this.isRecord} and enabled and (failing_since is null or reason is not null)
        returning reason),
        entries as (${insertAuditEntries('$1', '$4', 'exists (select from failed where reason is not null)')})
        select reason from failed`,
      values: [call.tenant.id, id, isGone, entries.json],
      plan: 'index',
    });
    if (failed?.reason) entries.publish();
    return failed?.reason ?? undefined;
  }

  private disabling(call: TenantCall, id: string) {
    return this.audit.prepare(call, [['webhook.disabled', id]]);
  }
}
