import { Column, ForeignKey, Index, Unique } from 'typeorm';
import { ANY_VALUE, TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { ApiKeyDto } from './key.dto.js';
import { Organization } from './organization.entity.js';

/** A key. Its fields are those of its responses. It has the hash and the first characters of a key, never the key itself. */
@TenantEntity('api_keys', {
  softDelete: false,
  events: {
    name: 'key',
    scope: 'keys:read',
    changes: ['created', 'updated', 'rotated', 'revoked'],
    transitions: { rotated: { successor_id: ANY_VALUE }, revoked: { revoked_at: ANY_VALUE } },
  },
})
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Unique(['id'])
@Unique(['key_hash'])
@Index('api_keys_by_created_at', ['organization_id', 'created_at', 'id'])
export class ApiKey extends ApiKeyDto {
  /** The tenant role cannot read it. */
  @Column('bytea', { select: false }) key_hash?: Buffer;
  /**
   * The lifetime that it was made with, which rotations keep: 0 if it does not expire. Null if an earlier release made it and
   * it was not rotated since.
   */
  @Column('bigint', { nullable: true, select: false }) lifetime_ms?: number | null;
  @Column('timestamp with time zone', {
    precision: 3,
    select: false,
    default: () => "date_trunc('milliseconds', now())",
  })
  updated_at?: Date;
}
