import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { isClearable } from '../../../platform/fields/field.js';
import { type ParsedJson, parseJsonText } from '../../../platform/fields/input/strict-json.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import type { FieldType } from '../../custom-fields/custom-field.dto.js';
import { CUSTOM, FIELDS, FULL_NAME } from './column-names.js';
import type { Column } from './columns.js';
import { textOfCell } from './file-lines.js';
import type { JsonObject } from './file-records.js';
import { FLAG_PROBLEM, flagOf } from './flag-words.js';

/** How cells become values. */
export interface CellOptions {
  /** Whether an empty cell clears its field. Otherwise the field stays as it is. */
  readonly clearsEmpty: boolean;
  /** Whether the cells have the quotes of an export. */
  readonly isEscaped: boolean;
}

/** The fields of a lead, as a request has them. With `id`, they are those of a stored lead. */
export type LeadValues = Record<string, unknown>;

/** What a record holds. It is rejected if there are problems. */
export interface LeadReading {
  /** The fields that could be read. */
  readonly values: LeadValues;
  /** What is wrong with fields. */
  readonly problems: readonly FieldProblem[];
  /** What is wrong with the record as a whole. */
  readonly faults: readonly string[];
  /** Whether the values are those of the record. Otherwise nothing else of it can be checked. */
  readonly isRead: boolean;
}

/** @returns what is wrong with the number of cells of a line, if anything. Empty cells at its end do not count. */
function faultOfCells(columns: readonly Column[], cells: readonly string[]): string | undefined {
  const surplus = cells.slice(columns.length).some((cell) => cell.trim() !== '');
  if (surplus) return `has ${cells.length} cells, and the header has ${columns.length}`;
  const nameless = columns.findIndex(
    ({ header }, index) => header === '' && (cells[index] ?? '').trim() !== '',
  );
  return nameless < 0 ? undefined : `has a value in column ${nameless + 1}, which has no header`;
}

/** Reads a line of CSV. Cells that are missing at its end are empty. */
export function readCells(
  columns: readonly Column[],
  cells: readonly string[],
  { clearsEmpty, isEscaped }: CellOptions,
): LeadReading {
  const values: LeadValues = {};
  const fault = faultOfCells(columns, cells);
  const problems: FieldProblem[] = [];
  for (const [index, { target, type }] of columns.entries()) {
    if (target === null) continue;
    const text = textOfCell(cells[index] ?? '', isEscaped);
    if (text.trim() !== '') {
      const cell = type ? valueOfType(type, target, text.trim()) : valueOfText(target, text);
      problems.push(...cell.problems.map(({ message }) => ({ field: target, message })));
      setValue(values, target, cell.value);
    } else if (clearsEmpty) setValue(values, target, emptyValueOf(target));
  }
  return readingOf(values, problems, fault === undefined ? [] : [fault]);
}

/** Reads a line of NDJSON, whose values are those of a request. */
export function readObject(
  columns: readonly Column[],
  { value, problems: found }: JsonObject,
): LeadReading {
  const values: LeadValues = {};
  // The line could not be read because of its problems.
  if (!value) return { values, problems: found, faults: [], isRead: false };
  const targets = new Map(columns.map(({ header, target }) => [header, target]));
  const problems = found.flatMap(({ field, message }) => {
    const target = targets.get(field);
    return target === null ? [] : [{ field: target ?? field, message }];
  });
  for (const { header, target } of columns) {
    if (target !== null && Object.hasOwn(value, header)) setValue(values, target, value[header]);
  }
  const nameless = Object.hasOwn(value, '') ? value[''] : null;
  const isNameless = nameless !== null && nameless !== '';
  return readingOf(values, problems, isNameless ? ['has a value without a name'] : []);
}

/** Adds the problem of a phone that a spreadsheet has taken for a number, and leaves fields with problems out. */
function readingOf(
  values: LeadValues,
  found: readonly FieldProblem[],
  faults: readonly string[],
): LeadReading {
  const problems = [...found];
  if (typeof values.phone === 'string' && NUMBER_OF_SPREADSHEET.test(values.phone.trim())) {
    problems.push({ field: 'phone', message: PHONE_PROBLEM });
  }
  for (const { field } of problems) {
    const name = field.startsWith(CUSTOM) ? 'custom_fields' : field;
    Reflect.deleteProperty(values, name);
  }
  return { values, problems, faults, isRead: true };
}

/** A number as spreadsheets and data tools write it, in place of a phone number: `4155550122.0`, `4.15E+11`, `4,15E+11`. */
const NUMBER_OF_SPREADSHEET = /^\+?(?:\d+[.,]0+|\d+(?:[.,]\d+)?e[+-]?\d+)$/i;

const PHONE_PROBLEM =
  'is a number that a spreadsheet has changed, such as 4.15E+11 or 4155550122.0; format the column as text and enter the phone number again';

/** Sets the value of a column. Those of `custom_fields.KEY` are added to `custom_fields`, in any order of the columns. */
function setValue(values: LeadValues, target: string, value: unknown): void {
  if (value === undefined) return;
  const custom = values.custom_fields ?? {};
  if (target === FULL_NAME) {
    Object.assign(values, namesOf(value));
  } else if (target === 'custom_fields') {
    const isMerged = isObject(custom) && Object.keys(custom).length > 0;
    if (isMerged && (isObject(value) || value === null)) {
      values.custom_fields = { ...value, ...custom };
    } else values.custom_fields = isObject(value) ? { ...value } : value;
  } else if (!target.startsWith(CUSTOM)) {
    values[target] = value;
  } else if (isObject(custom)) {
    // Other values of custom_fields stay, for the error of the field.
    const property = { value, writable: true, enumerable: true, configurable: true };
    values.custom_fields = Object.defineProperty(custom, target.slice(CUSTOM.length), property);
  }
}

/**
 * Splits a whole name at its last space, or at a comma behind the family name. A value that is no text stays, for the
 * error of the field.
 */
function namesOf(value: unknown): LeadValues {
  if (typeof value !== 'string') return value === null ? {} : { first_name: value };
  const name = value.trim();
  const [family = '', given] = name.split(/,(.*)/s, 2).map((part) => part.trim());
  if (given !== undefined && given !== '' && family !== '') {
    return { first_name: given, last_name: family };
  }
  const [, first = name, last] = /^(.*\S)\s+(\S+)$/s.exec(name) ?? [];
  return { first_name: first, ...(last !== undefined && { last_name: last }) };
}

/** The value of a cell. One that is not valid stays as it is, for the error of the field. */
function valueOfText(target: string, text: string): ParsedJson {
  const { type, enum: values } = FIELDS.get(target)?.schema ?? {};
  if (type === 'boolean') return flagOfText(target, text);
  if (type === 'array') return tagsOf(text.trim());
  if (type === 'object') return parseJsonText(text, 0) ?? valid(text);
  const lower = text.trim().toLowerCase();
  return valid(values?.includes(lower) ? lower : text);
}

function flagOfText(target: string, text: string): ParsedJson {
  const value = flagOf(text);
  return value === undefined
    ? { problems: [{ field: target, message: FLAG_PROBLEM }] }
    : valid(value);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The value of a cell of a defined custom field. One that does not fit stays as it is, for the error of the field. */
function valueOfType(type: FieldType, target: string, text: string): ParsedJson {
  if (type === 'boolean') return flagOfText(target, text);
  if (type === 'multi_select') return tagsOf(text);
  if (type !== 'number') return valid(text);
  return NUMBER.test(text) ? (parseJsonText(text, 0) ?? valid(text)) : valid(text);
}

function valid(value: unknown): ParsedJson {
  return { value, problems: [] };
}

/** What separates tags: three colons, as in exports of Google, or else a semicolon or a comma. */
const TAG_SEPARATORS = [':::', ';', ','];

function tagsOf(text: string): ParsedJson {
  const list = text.startsWith('[') ? parseJsonText(text, 0) : undefined;
  if (list) return list;
  const separator = TAG_SEPARATORS.find((each) => text.includes(each)) ?? ',';
  const tags = text.split(separator).map((tag) => tag.trim());
  return valid(tags.filter((tag) => tag !== ''));
}

/** @returns undefined for a field that is never empty */
function emptyValueOf(target: string): unknown {
  // Whole names have the first name, which is never empty.
  if (target === FULL_NAME || target === 'id') return undefined;
  const field = FIELDS.get(target);
  if (!field || isClearable(field)) return null;
  const { default: value } = field.presence;
  return typeof value === 'object' ? value : undefined;
}
