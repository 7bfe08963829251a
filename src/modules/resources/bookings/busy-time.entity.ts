import { Column, Exclusion, ForeignKey, Index } from 'typeorm';
import { TenantEntity } from '../../../platform/data/records/tenant-entity.js';
import { Organization } from '../../auth/organization.entity.js';
import { Resource } from '../resource.entity.js';
import { HoldDto } from './hold.dto.js';

const BUFFERED = { type: 'timestamp with time zone', precision: 3, select: false } as const;

/**
 * The time of a resource that an appointment or a hold takes, whose id it has. A trigger keeps the rows of appointments, which
 * never expire and have no key.
 */
@TenantEntity('busy_times', {
  softDelete: false,
  order: 'expires_at',
  references: { resource_id: { entity: () => Resource, onDelete: 'cascade' } },
})
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('busy_times_of_resource', ['organization_id', 'resource_id', 'ends_at', 'starts_at'])
@Index('busy_times_by_expires_at', ['organization_id', 'expires_at', 'id'])
@Index('busy_times_of_holds', ['organization_id', 'resource_id', 'expires_at'], {
  where: 'key_id is not null',
})
@Exclusion(
  'busy_times_do_not_overlap',
  'using gist (organization_id with =, resource_id with =, tstzrange(starts_at, ends_at) with &&)',
)
export class BusyTime extends HoldDto {
  @Column(BUFFERED) starts_at?: Date;
  @Column(BUFFERED) ends_at?: Date;
  @Column('uuid', { nullable: true, select: false }) key_id?: string | null;
}
