import { ApiError, validationError } from '../../../platform/errors/api-error.js';
import {
  describeProblem,
  type FieldProblem,
  fieldLabel,
  MAX_PROBLEMS,
} from '../../../platform/errors/field-problem.js';
import type { FieldType } from '../../custom-fields/custom-field.dto.js';
import type { EnforcedRule } from '../../custom-fields/field-rule.js';
import {
  CUSTOM,
  fieldOfHeader,
  FULL_NAME,
  isCustom,
  isSpelling,
  isTarget,
  leftOutColumns,
  ownColumnOfHeader,
} from './column-names.js';

/** Where the cells of a column go: a field, `custom_fields.` and a key, or nowhere. */
export interface Column {
  readonly header: string;
  readonly target: string | null;
  /** The type of a defined custom field, as which cells are read. */
  readonly type?: FieldType;
}

/** A custom field that the organization has defined. */
export type DefinedColumn = Pick<EnforcedRule, 'key' | 'label' | 'type'>;

/** How columns are read. */
export interface ColumnOptions {
  /** Targets by header, which replace those that the headers have. */
  readonly map: Readonly<Record<string, string | null>>;
  /** Whether a column whose header is unknown becomes a custom field. */
  readonly keepsUnknown: boolean;
  /** Whether the column `id` finds leads. Otherwise no lead takes it. */
  readonly matchesId: boolean;
  /** Custom fields whose columns can have their key or their label as header. */
  readonly defined: readonly DefinedColumn[];
}

/** The longest `map` that a request can have. */
export const MAX_MAP_LENGTH = 10_000;

/** Where a header of the file goes. Undefined if it is unknown. */
type Planned = Omit<Column, 'target'> & { readonly target: string | null | undefined };

/**
 * Decides where each column goes.
 * @throws ApiError `validation_error` that names the columns that are unknown, and those that go to the same field
 */
export function planColumns(headers: readonly string[], options: ColumnOptions): Column[] {
  const columns = withoutFullName(targetsOf(headers, options), options);
  const unknown = columns.filter(({ target }) => target === undefined).map(({ header }) => header);
  const repeated = repeatedTargets(columns);
  const problems = [
    ...unknown.map((header) => problemOf(header, 'is unknown')),
    ...columns.flatMap(({ header, target }) =>
      typeof target === 'string' && !isAllowed(target, options)
        ? [problemOf(header, `cannot go to ${targetLabel(target)}`)]
        : [],
    ),
    ...repeated.map(({ header, problem }) => problemOf(header, problem)),
    ...Object.keys(options.map)
      .filter((header) => !headers.includes(header))
      .map((header) => problemOf(header, 'is in map and not in the file')),
  ];
  if (problems.length === 0) {
    return columns.map(({ header, target = null }) => {
      const type = options.defined.find(({ key }) => target === CUSTOM + key)?.type;
      return { header, target, ...(type && { type }) };
    });
  }
  const others = repeated.map(({ header }) => header);
  throw unknown.length > 0
    ? unknownColumns(problems, unknown, readyMap(headers, [...unknown, ...others], options))
    : validationError(problems);
}

function problemOf(header: string, message: string): FieldProblem {
  return { field: `columns.${fieldLabel(header, 'without a name')}`, message };
}

function targetsOf(headers: readonly string[], options: ColumnOptions): Planned[] {
  const leftOut = leftOutColumns(headers, options.keepsUnknown);
  return headers.map((header) => {
    const mapped = Object.hasOwn(options.map, header) ? options.map[header] : undefined;
    if (mapped !== undefined) return { header, target: mapped };
    if (header === '') return { header, target: null };
    if (options.matchesId && ownColumnOfHeader(header) === 'id') return { header, target: 'id' };
    if (leftOut.has(header)) return { header, target: null };
    return { header, target: targetOf(header, options) };
  });
}

function targetOf(header: string, { keepsUnknown, defined }: ColumnOptions): string | undefined {
  const known = fieldOfHeader(header);
  if (known !== undefined) return known;
  if (isCustom(header)) return header;
  const spelled = defined.filter(
    ({ key, label }) => isSpelling(header, key) || isSpelling(header, label ?? ''),
  );
  const only = spelled.length === 1 ? spelled[0] : undefined;
  const named = defined.find(({ key }) => key === header) ?? only;
  if (named) return CUSTOM + named.key;
  return keepsUnknown ? CUSTOM + header : undefined;
}

/** Leaves a column of whole names out if the file has the names apart, unless it is mapped. */
function withoutFullName(columns: readonly Planned[], { map }: ColumnOptions): Planned[] {
  const hasNames = columns.some(({ target }) => target === 'first_name' || target === 'last_name');
  if (!hasNames) return [...columns];
  return columns.map(({ header, target }) => {
    const isLeftOut = target === FULL_NAME && !Object.hasOwn(map, header);
    return { header, target: isLeftOut ? null : target };
  });
}

function isAllowed(target: string, { matchesId }: ColumnOptions): boolean {
  return isTarget(target) || (matchesId && target === 'id');
}

function targetLabel(target: string): string {
  return target === 'id' ? 'id, unless match_on names it' : fieldLabel(target, 'this field');
}

/** The columns that go to the same field as an earlier one. */
function repeatedTargets(columns: readonly Planned[]) {
  const byTarget = new Map<string, string>();
  return columns.flatMap(({ header, target }) => {
    if (typeof target !== 'string') return [];
    const partOf = target === FULL_NAME ? ['first_name', 'last_name'] : [target];
    const other = partOf.map((field) => byTarget.get(field)).find((name) => name !== undefined);
    for (const field of partOf) if (!byTarget.has(field)) byTarget.set(field, header);
    if (other === undefined) return [];
    const problem = `goes to ${target}, as the column ${fieldLabel(other, 'before it')} does`;
    return [{ header, problem }];
  });
}

/** The `map` of the request, with null for columns that are to be left out. */
function readyMap(
  headers: readonly string[],
  toLeaveOut: readonly string[],
  { map }: ColumnOptions,
): string {
  const entries: [string, string | null][] = [
    ...Object.entries(map).filter(([header]) => headers.includes(header)),
    ...toLeaveOut.map((header): [string, null] => [header, null]),
  ];
  return JSON.stringify(Object.fromEntries(entries));
}

/** Unknown columns that a message names. Its `map` has all of them. */
const MAX_NAMED = 20;

/**
 * The error for unknown columns: one sentence with a `map` that can be sent.
 * @param problems all problems of the columns, those of unknown ones first, for the details
 */
function unknownColumns(
  problems: readonly FieldProblem[],
  unknown: readonly string[],
  map: string,
): ApiError {
  const named = problems.slice(0, Math.min(unknown.length, MAX_NAMED)).map(({ field }) => field);
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : '';
  const leavesOut =
    map.length > MAX_MAP_LENGTH ? 'null in map leaves a column out' : `map=${map} leaves them out`;
  const message = `The file has unknown columns: ${named.join(', ')}${more}; ${leavesOut}, a field in place of null imports one, and unknown_columns=custom_fields keeps them as custom fields.`;
  const others = problems.slice(unknown.length, MAX_PROBLEMS).map(describeProblem);
  return new ApiError('validation_error', {
    message: [message, ...others.map((text) => `${text}.`)].join(' '),
    details: problems.slice(0, MAX_PROBLEMS),
  });
}
