import { Column, ForeignKey, Index } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { WebhookDto } from './webhook.dto.js';

/** A webhook. Its fields are those of its responses. */
@TenantEntity('webhooks', { softDelete: false })
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('webhooks_by_created_at', ['organization_id', 'created_at', 'id'])
export class Webhook extends WebhookDto {
  @Column('text', { array: true, select: false }) scopes?: string[];
  @Column('text', { select: false }) secret?: string;
  @Column('text', { nullable: true, select: false }) previous_secret?: string | null;
}
