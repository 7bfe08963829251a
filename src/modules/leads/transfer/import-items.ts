import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import type { Source } from '../lead.dto.js';
import { type LeadReading, type LeadValues, readCells, readObject } from './cells.js';
import type { FileRecord } from './file-records.js';
import { withConstants } from './import-constants.js';
import type { ImportPlan } from './lead-import.entity.js';

/** The source of leads that an import creates, unless the file or `set` has another. */
export const SOURCE: Source = 'import';

type Action = 'create' | 'update' | 'upsert';

/** A record with what is to be done. */
export interface ImportItem {
  /** Undefined if no lead can be found by the values, and none may be created. */
  readonly action: Action | undefined;
  /** The lead of an update. */
  readonly id?: unknown;
  readonly data: LeadValues;
  readonly problems: readonly FieldProblem[];
  readonly faults: readonly string[];
  readonly isRead: boolean;
}

/** Reads a record of a file. */
export function itemOf({ cells, json }: FileRecord, plan: ImportPlan): ImportItem {
  const { columns, matchOn, constants = {} } = plan;
  const reading =
    typeof cells === 'string'
      ? readObject(columns, json ?? { problems: [] })
      : readCells(columns, cells, plan);
  const { problems, faults, isRead } = reading;
  const { id, ...given } = reading.values;
  const action = actionOf(reading, plan);
  const values = withConstants(given, constants, action === 'create');
  const data =
    action === 'create' && isEmpty(values.source) ? { ...values, source: SOURCE } : values;
  const isBroken = matchOn.some((field) => problems.some((problem) => problem.field === field));
  const isLost = isRead && action === undefined && !isBroken;
  const lost = `has no ${matchOn.join(' or ')}, by which its lead is found`;
  return { action, id, data, problems, faults: isLost ? [...faults, lost] : faults, isRead };
}

function actionOf({ values }: LeadReading, { mode, matchOn }: ImportPlan): Action | undefined {
  if (mode === 'create_only') return 'create';
  const found = matchOn.filter((field) => !isEmpty(values[field]));
  if (found.includes('id')) return 'update';
  if (found.length > 0) return 'upsert';
  return mode === 'create_or_update' ? 'create' : undefined;
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
  );
}

/** @returns the item of a batch; undefined if the record is rejected */
export function batchItemOf(item: ImportItem, { mode, matchOn }: ImportPlan): object | undefined {
  const { action, id, data, problems, faults, isRead } = item;
  if (!isRead || action === undefined || problems.length > 0 || faults.length > 0) return undefined;
  if (action === 'upsert') {
    return { action, match_on: matchOn.filter((field) => field !== 'id'), mode, data };
  }
  return { action, ...(action === 'update' && { id }), data };
}
