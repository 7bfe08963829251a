import { Column, Index } from 'typeorm';
import { TenantEntity } from '../../platform/data/records/tenant-entity.js';
import { AuditEntryDto } from './audit-entry.dto.js';

/**
 * An entry of the audit log, which `AuditLog` writes. Its fields are those of its responses. The entries of an operator have
 * the id of the operator in place of an organization.
 */
@TenantEntity('audit_entries', { softDelete: false, order: 'at' })
@Index('audit_entries_by_at', ['organization_id', 'at', 'id'])
@Index('audit_entries_by_type', ['organization_id', 'type', 'at', 'id'])
@Index('audit_entries_by_key', { synchronize: false })
@Index('audit_entries_by_record', { synchronize: false })
@Index('audit_entries_expiring', ['at'])
@Index('audit_entries_with_address', { synchronize: false })
export class AuditEntry extends AuditEntryDto {
  /** That of `actor`, for the filter. */
  @Column('uuid', { nullable: true, select: false }) key_id?: string | null;
  /** That of `record`, for the filter. */
  @Column('uuid', { nullable: true, select: false }) record_id?: string | null;
}
