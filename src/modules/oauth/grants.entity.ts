import { Column, Index, Unique } from 'typeorm';
import { ANY_VALUE, TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { ApiKey } from '../auth/api-key.entity.js';
import { GrantDto } from './grants.dto.js';

/** A grant. Its fields are those of its responses. */
@TenantEntity('oauth_grants', {
  softDelete: false,
  references: { key_id: { entity: () => ApiKey, onDelete: 'cascade' } },
  events: {
    name: 'grant',
    scope: 'events:read',
    changes: ['created', 'refused', 'updated', 'revoked'],
    transitions: { revoked: { revoked_at: ANY_VALUE } },
  },
})
@Unique(['id'])
@Index('oauth_grants_by_created_at', ['organization_id', 'created_at', 'id'])
@Index('oauth_grants_by_client', ['client_id'])
@Index('oauth_grants_by_key', ['key_id'])
export class Grant extends GrantDto {
  /** The identifier of the endpoint that its tokens are for. */
  @Column('text', { select: false }) resource?: string;
  @Column('timestamp with time zone', {
    precision: 3,
    select: false,
    default: () => "date_trunc('milliseconds', now())",
  })
  updated_at?: Date;
}
