import { Column, ForeignKey, Index } from 'typeorm';
import { TenantEntity } from '../../../platform/data/records/tenant-entity.js';
import { Organization } from '../../auth/organization.entity.js';
import { Resource } from '../../resources/resource.entity.js';
import { CalendarDto } from './calendar.dto.js';

/** A calendar of a resource. Its fields are those of its responses. It has the hash of its secret, never the secret. */
@TenantEntity('calendars', {
  softDelete: false,
  references: { resource_id: { entity: () => Resource, onDelete: 'cascade' } },
})
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('calendars_by_created_at', ['organization_id', 'created_at', 'id'])
@Index('calendars_by_secret_hash', ['secret_hash'])
@Index('calendars_by_resource', ['organization_id', 'resource_id', 'created_at', 'id'])
export class Calendar extends CalendarDto {
  @Column('bytea', { select: false }) secret_hash?: Buffer;
}
