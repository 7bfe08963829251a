import { Column, ForeignKey, Index } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { ERASED_RECORD } from '../events/events.repository.js';
import { TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { DeliveryDto } from './delivery.dto.js';
import { Webhook } from './webhook.entity.js';

/** SQL of the body of a delivery whose record has only its id. */
export const ERASED_BODY = `(select row_to_json(event)::text from (select
  body::json->'id' as id, body::json->'type' as type, body::json->'created_at' as created_at,
  ${ERASED_RECORD} as record, body::json->'changed' as changed, body::json->'actor' as actor) event)`;

/** An event for a webhook. Its fields are those of its responses. A purge of a record removes the deliveries of its events. */
@TenantEntity('webhook_deliveries', {
  softDelete: false,
  references: { webhook_id: { entity: () => Webhook, onDelete: 'cascade' } },
  about: 'record_id',
  erased: `body = ${ERASED_BODY}, response_body = null`,
})
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('webhook_deliveries_by_event', ['organization_id', 'webhook_id', 'event_id'], {
  unique: true,
})
@Index('webhook_deliveries_by_webhook_id', ['organization_id', 'webhook_id', 'created_at', 'id'])
@Index('webhook_deliveries_by_created_at', ['organization_id', 'created_at', 'id'])
@Index('webhook_deliveries_by_record_id', ['organization_id', 'record_id'])
@Index('webhook_deliveries_due', { synchronize: false })
@Index('webhook_deliveries_next', { synchronize: false })
@Index('webhook_deliveries_waiting', { synchronize: false })
export class Delivery extends DeliveryDto {
  /** The order of the events of a record. */
  @Column({ type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS', select: false })
  seq?: string;
  @Column('text', { select: false }) body?: string;
  /** Whether the event is one of many of a job. Others are delivered first. */
  @Column('boolean', { select: false, default: false }) is_bulk?: boolean;
  /** The trace of the change. */
  @Column('text', { select: false, nullable: true }) traceparent?: string | null;
}
