import { ForeignKey, Index } from 'typeorm';
import { TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { Organization } from '../auth/organization.entity.js';
import { CustomFieldDto } from './custom-field.dto.js';

/** A definition of a custom field. Its fields are those of its responses. */
@TenantEntity('custom_fields', { events: { name: 'custom_field', scope: 'leads:read' } })
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('custom_fields_key', { synchronize: false })
@Index('custom_fields_by_created_at', { synchronize: false })
@Index('custom_fields_by_deleted_at', { synchronize: false })
export class CustomField extends CustomFieldDto {}
