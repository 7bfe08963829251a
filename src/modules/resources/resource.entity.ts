import { ForeignKey, Index } from 'typeorm';
import { Organization } from '../auth/organization.entity.js';
import { TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { RESOURCE_SORTS, ResourceDto } from './resource.dto.js';

/** A resource. Its fields are those of its responses. */
@TenantEntity('resources', {
  sorts: RESOURCE_SORTS,
  events: { name: 'resource', scope: 'appointments:read' },
})
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('resources_by_created_at', { synchronize: false })
@Index('resources_by_updated_at', { synchronize: false })
@Index('resources_deleted', { synchronize: false })
export class Resource extends ResourceDto {}
