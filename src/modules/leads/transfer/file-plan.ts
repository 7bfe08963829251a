import { type ApiError, validationError } from '../../../platform/errors/api-error.js';
import { type Column, type DefinedColumn, planColumns } from './columns.js';
import { assertForCsv } from './file-lines.js';
import { readConstants } from './import-constants.js';
import type { ImportPlan } from './lead-import.entity.js';
import {
  columnMapOf,
  type ImportFormat,
  type LeadImportQuery,
  type MatchField,
} from './lead-import.dto.js';

/** The columns of a file. */
export const MAX_COLUMNS = 1_000;

/** What finds leads unless it is named. Two persons can have one phone, so that it only stands in for these. */
const DEFAULT_MATCH: readonly MatchField[] = ['external_id', 'email'];

/** The parameters of an import, and the custom fields that the organization has defined. */
export type FileQuery = LeadImportQuery & { readonly defined?: readonly DefinedColumn[] };

/** What the parameters of an import say about its records. */
export function optionsOf(query: LeadImportQuery) {
  return {
    mode: query.mode,
    clearsEmpty: query.clear_empty,
    isEscaped: query.escaped === 'latitude',
    constants: readConstants(query.set).value,
  } satisfies Partial<ImportPlan>;
}

/** @throws ApiError `validation_error` for columns that are unknown, or given twice */
export function columnsOf(headers: readonly string[], query: FileQuery): Column[] {
  if (headers.length > MAX_COLUMNS) throw invalidBody(`must have at most ${MAX_COLUMNS} columns`);
  const seen = new Set<string>();
  const repeated = headers.filter((name) => name !== '' && seen.size === seen.add(name).size);
  if (repeated.length > 0) {
    throw validationError(
      repeated.map((name) => ({ field: `columns.${name}`, message: 'is in the header twice' })),
    );
  }
  return planColumns(headers, {
    map: columnMapOf(query.map) ?? {},
    keepsUnknown: query.unknown_columns === 'custom_fields',
    matchesId: query.match_on?.includes('id') === true,
    defined: query.defined ?? [],
  });
}

/**
 * The fields that find the lead of a line.
 * @throws ApiError `validation_error` if the file has none of them, and its lines can update leads
 */
export function matchFieldsOf(columns: readonly Column[], query: LeadImportQuery): MatchField[] {
  const { match_on: named, mode } = query;
  const isThere = (field: MatchField) => columns.some(({ target }) => target === field);
  const fields = (named ?? DEFAULT_MATCH).filter(isThere);
  if (fields.length === 0 && !named && isThere('phone')) return ['phone'];
  if (fields.length > 0 || mode === 'create_only' || columns.length === 0) return fields;
  const wanted = (named ?? [...DEFAULT_MATCH, 'phone']).join(', ');
  const message = `must name a field that has a column, or mode must be create_only; the file has none for ${wanted}`;
  throw validationError([{ field: 'match_on', message }]);
}

/** @throws ApiError `validation_error` for options of CSV with another format, and for options that contradict */
export function assertOptions(format: ImportFormat, query: LeadImportQuery): void {
  if (query.match_on?.includes('id') && query.mode === 'create_only') {
    const message = 'cannot have id with mode create_only, because a new lead has no id';
    throw validationError([{ field: 'match_on', message }]);
  }
  if (format === 'csv') return;
  assertForCsv({
    delimiter: query.delimiter,
    clear_empty: query.clear_empty ? true : undefined,
    escaped: query.escaped === 'none' ? undefined : query.escaped,
  });
}

export function invalidBody(message: string): ApiError {
  return validationError([{ field: 'body', message }]);
}
