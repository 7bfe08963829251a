import { Column, ForeignKey, Index } from 'typeorm';
import { Organization } from '../../auth/organization.entity.js';
import { TenantEntity } from '../../../platform/data/records/tenant-entity.js';
import type { Actor } from '../../../platform/data/call.js';
import type { UpsertMode } from '../lead-upsert.dto.js';
import type { CellOptions } from './cells.js';
import type { Column as FileColumn } from './columns.js';
import type { DelimiterName } from './file-records.js';
import type { ImportConstants } from './import-constants.js';
import { LeadImportDto, type MatchField } from './lead-import.dto.js';
import type { TextShape } from './text-shape.js';

/** How the records of a stored file are read and carried out. */
export interface ImportPlan extends CellOptions {
  readonly format: 'csv' | 'ndjson';
  readonly columns: readonly FileColumn[];
  readonly delimiter: DelimiterName;
  readonly mode: UpsertMode;
  readonly matchOn: readonly MatchField[];
  /** The values of the parameter `set`. Imports of earlier versions have none. */
  readonly constants?: ImportConstants;
  /** How the file was encoded. Unknown for imports of earlier versions. */
  readonly text?: TextShape;
  /** Size of the stored file. */
  readonly storedBytes: number;
}

/** Who started an import. Its events name them, and the import stops when their key is revoked or expires. */
export interface ImportStarter {
  readonly key: Omit<Actor['key'], 'expiresAt'> & { readonly expiresAt: string | null };
  readonly scopes: readonly string[];
  readonly requestId: string | null;
}

/**
 * An import: the fields of its responses, and hidden ones for the runner. The file is in `lead_import_chunks` until the
 * import has ended.
 */
@TenantEntity('lead_imports', { softDelete: false })
@ForeignKey(() => Organization, ['organization_id'], ['id'])
@Index('lead_imports_by_created_at', ['organization_id', 'created_at', 'id'])
export class LeadImport extends LeadImportDto {
  @Column('json', { select: false }) plan?: ImportPlan;
  @Column('json', { select: false }) starter?: ImportStarter;
  /** Where the next record begins in the stored file, in bytes. */
  @Column('integer', { select: false }) position?: number;
  /** The line at `position`. */
  @Column('integer', { select: false }) line?: number;
  /** For instances of version 0.4 on the same database, which lease an import by these two columns. */
  @Column('uuid', { nullable: true, select: false }) runner?: string | null;
  @Column('timestamp with time zone', { precision: 3, nullable: true, select: false })
  leased_until?: Date | null;
}

/** The names of the columns that are not imported. */
export function ignoredOf(columns: readonly FileColumn[]): string[] {
  return columns.flatMap(({ header, target }) =>
    header !== '' && target === null ? [header] : [],
  );
}
