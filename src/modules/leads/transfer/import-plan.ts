import type { Actor } from '../../../platform/data/call.js';
import type { UpsertMode } from '../lead-upsert.dto.js';
import type { UniqueField } from '../unique-values.js';
import type { CellOptions, Column } from './columns.js';
import type { DelimiterName } from './file-records.js';

/** How the records of a stored file are read and carried out. */
export interface ImportPlan extends CellOptions {
  readonly format: 'csv' | 'ndjson';
  readonly columns: readonly Column[];
  readonly delimiter: DelimiterName;
  readonly mode: UpsertMode;
  readonly matchOn: readonly UniqueField[];
  /** Size of the stored file. */
  readonly storedBytes: number;
}

/** Who has started an import, for its events and for the end of the key. */
export interface ImportStarter {
  readonly key: Omit<Actor['key'], 'expiresAt'> & { readonly expiresAt: string | null };
  readonly scopes: readonly string[];
  readonly requestId: string | null;
}
