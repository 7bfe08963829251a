import { Column, ForeignKey, Index } from 'typeorm';
import { Organization } from '../../auth/organization.entity.js';
import { TenantEntity } from '../../../platform/data/records/tenant-entity.js';
import { LeadImportDto } from './lead-import.dto.js';

/** An import. Its fields are those of its responses. The file is in `lead_import_chunks` until the import has ended. */
@TenantEntity('lead_imports', { softDelete: false })
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('lead_imports_by_created_at', ['organization_id', 'created_at', 'id'])
export class LeadImport extends LeadImportDto {
  /** How the file is read, `ImportPlan`. */
  @Column('json', { select: false }) plan?: object;
  /** Who has started it, `ImportStarter`. */
  @Column('json', { select: false }) starter?: object;
  /** Where the next record begins, in the stored file. */
  @Column('integer', { select: false }) position?: number;
  @Column('integer', { select: false }) line?: number;
  /** The process that carries it out, until its lease ends. */
  @Column('uuid', { nullable: true, select: false }) runner?: string | null;
  @Column('timestamp with time zone', { precision: 3, nullable: true, select: false })
  leased_until?: Date | null;
}
