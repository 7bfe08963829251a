import { validationError } from '../../../platform/errors/api-error.js';
import { describeProblem, type FieldProblem } from '../../../platform/errors/field-problem.js';
import { type Field, fieldsOf, isClearable, namesOf } from '../../../platform/fields/field.js';
import { type ParsedJson, parseJsonText } from '../../../platform/fields/input/strict-json.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import { CreateLeadDto, LeadDto } from '../lead.dto.js';
import type { JsonObject } from './file-records.js';

/** Where the cells of a column go: a field, `custom_fields.` and a key, or nowhere. */
export interface Column {
  readonly header: string;
  readonly target: string | null;
}

/** How columns and cells are read. */
export interface ColumnOptions {
  /** Targets by header, which replace those that the headers have. */
  readonly map: Readonly<Record<string, string | null>>;
  /** Whether a column whose header is unknown becomes a custom field. */
  readonly keepsUnknown: boolean;
}

const FIELDS: ReadonlyMap<string, Field> = new Map(
  fieldsOf(CreateLeadDto).map((field) => [field.name, field]),
);

/** The fields of an exported lead that a new lead cannot have. */
const READ_ONLY = namesOf(LeadDto).filter((name) => !FIELDS.has(name));

/** The columns that a file of rejected lines has in addition to those of its import. */
export const REJECTION_COLUMNS = ['rejected_line', 'rejection_reason'] as const;

export const CUSTOM = 'custom_fields.';

/** Spellings of headers in other products, in lower case without anything but letters and digits. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  first_name: ['given name', 'forename', 'first'],
  last_name: ['family name', 'surname', 'last'],
  phone: ['phone number', 'telephone', 'telephone number', 'tel', 'mobile', 'mobile phone']
    .concat(['mobile phone number', 'mobile number', 'cell', 'cell phone', 'work phone'])
    .concat(['business phone', 'primary phone', 'phone 1 value', 'phone work']),
  email: ['email address', 'mail', 'e mail 1 value', 'primary email', 'work email', 'email work'],
  company: [
    'company name',
    'organization',
    'organisation',
    'organization name',
    'account name',
  ].concat(['account', 'business', 'business name', 'associated company', 'employer']),
  address_street: ['street', 'street address', 'address', 'address 1', 'address line 1'].concat([
    'mailing street',
  ]),
  city: ['town', 'mailing city'],
  state: ['province', 'state region', 'state province', 'mailing state'],
  zip: ['zip code', 'postal code', 'postcode', 'mailing zip', 'zip postal code'],
  status: ['lead status'],
  notes: ['note', 'comment', 'comments', 'description'],
  tags: ['tag', 'labels', 'label'],
  external_id: ['record id', 'lead id', 'contact id'],
};

const BY_SPELLING: ReadonlyMap<string, string> = new Map(
  [...FIELDS.keys()].flatMap((name) => {
    return [name, ...(SPELLINGS[name] ?? [])].map((spelling) => [keyOf(spelling), name] as const);
  }),
);

function keyOf(header: string): string {
  return header
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/**
 * Decides where each column goes.
 * @throws ApiError `validation_error` that names the columns that are unknown, and those that go to the same field
 */
export function planColumns(headers: readonly string[], options: ColumnOptions): Column[] {
  const problems: FieldProblem[] = [];
  const report = (header: string, message: string) => {
    problems.push({ field: `columns.${header}`, message });
  };
  const isExport = READ_ONLY.every((name) => headers.includes(name));
  const isRejected = REJECTION_COLUMNS.every((name) => headers.includes(name));
  const leftOut = [...(isExport ? READ_ONLY : []), ...(isRejected ? REJECTION_COLUMNS : [])];
  const columns = headers.map((header): Column => {
    const isLeftOut = leftOut.includes(header) && !Object.hasOwn(options.map, header);
    if (header === '' || isLeftOut) return { header, target: null };
    const target = targetOf(header, options);
    if (target === undefined) report(header, UNKNOWN);
    else if (target !== null && !isTarget(target)) report(header, `cannot go to ${target}`);
    return { header, target: target ?? null };
  });
  const targets = new Map<string, string>();
  for (const { header, target } of columns) {
    const other = target === null ? undefined : targets.get(target);
    if (other !== undefined) report(header, `goes to ${target}, as the column ${other} does`);
    if (target !== null) targets.set(target, header);
  }
  for (const header of Object.keys(options.map)) {
    if (!headers.includes(header)) report(header, 'is in map and not in the file');
  }
  if (problems.length > 0) throw validationError(problems);
  return columns;
}

const UNKNOWN =
  'is unknown; name its field in map, null to leave it out, or set unknown_columns to custom_fields';

function targetOf(header: string, { map, keepsUnknown }: ColumnOptions): string | null | undefined {
  const mapped = Object.hasOwn(map, header) ? map[header] : undefined;
  if (mapped !== undefined) return mapped;
  const known = BY_SPELLING.get(keyOf(header));
  if (known !== undefined) return known;
  if (header.startsWith(CUSTOM) && header !== CUSTOM) return header;
  return keepsUnknown ? CUSTOM + header : undefined;
}

function isTarget(target: string): boolean {
  return FIELDS.has(target) || (target.startsWith(CUSTOM) && target !== CUSTOM);
}

/** How cells become values. */
export interface CellOptions {
  /** Whether an empty cell clears its field. Otherwise the field stays as it is. */
  readonly clearsEmpty: boolean;
}

/** The fields of a lead, as a request has them. */
export type LeadValues = Record<string, unknown>;

/** What a record holds: the fields of a lead, or the reason why they cannot be read. */
export interface LeadReading {
  readonly values: LeadValues;
  readonly reason?: string;
}

/** @returns what is wrong with the number of cells of a line, if anything */
function problemOfCells(columns: readonly Column[], cells: readonly string[]): string | undefined {
  if (cells.length !== columns.length) {
    return `has ${cells.length} cells, and the header has ${columns.length}`;
  }
  const nameless = columns.findIndex(({ header }, index) => header === '' && cells[index] !== '');
  return nameless < 0 ? undefined : `has a value in column ${nameless + 1}, which has no header`;
}

/** Reads a line of CSV. */
export function readCells(
  columns: readonly Column[],
  cells: readonly string[],
  { clearsEmpty }: CellOptions,
): LeadReading {
  const values: LeadValues = {};
  const reason = problemOfCells(columns, cells);
  if (reason !== undefined) return { values, reason };
  const problems: FieldProblem[] = [];
  for (const [index, { target }] of columns.entries()) {
    if (target === null) continue;
    const text = cells[index] ?? '';
    if (text.trim() !== '') {
      const cell = valueOfText(target, text);
      problems.push(...cell.problems.map(({ message }) => ({ field: target, message })));
      setValue(values, target, cell.value);
    } else if (clearsEmpty) setValue(values, target, emptyValueOf(target));
  }
  return { values, reason: reasonOf(problems) };
}

/** Reads a line of NDJSON, whose values are those of a request. */
export function readObject(
  columns: readonly Column[],
  { value, problems: found }: JsonObject,
): LeadReading {
  const values: LeadValues = {};
  const object = value ?? {};
  const ignored = columns.flatMap(({ header, target }) => (target === null ? [header] : []));
  // Without a value, the line could not be read because of its problems.
  const problems = value ? found.filter(({ field }) => !ignored.includes(field)) : found;
  for (const { header, target } of columns) {
    if (target !== null && Object.hasOwn(object, header)) setValue(values, target, object[header]);
  }
  const nameless = Object.hasOwn(object, '') ? object[''] : null;
  const isEmpty = nameless === null || nameless === '';
  return { values, reason: reasonOf(problems) ?? (isEmpty ? undefined : NAMELESS) };
}

const NAMELESS = 'has a value without a name';

function reasonOf(problems: readonly FieldProblem[]): string | undefined {
  return problems.length > 0 ? problems.map(describeProblem).join('; ') : undefined;
}

/** Sets the value of a column. Those of `custom_fields.KEY` are added to `custom_fields`, in any order of the columns. */
function setValue(values: LeadValues, target: string, value: unknown): void {
  if (value === undefined) return;
  const custom = values.custom_fields ?? {};
  if (target === 'custom_fields') {
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

/** The value of a cell. One that is not valid stays as it is, for the error of the field. */
function valueOfText(target: string, text: string): ParsedJson {
  const { type, enum: values } = FIELDS.get(target)?.schema ?? {};
  if (type === 'boolean') return valid(FLAGS[text.trim().toLowerCase()] ?? text);
  if (type === 'array') return tagsOf(text.trim());
  if (type === 'object') return parseJsonText(text, 0) ?? valid(text);
  const lower = text.trim().toLowerCase();
  return valid(values?.includes(lower) ? lower : text);
}

function valid(value: unknown): ParsedJson {
  return { value, problems: [] };
}

const FLAGS: Readonly<Record<string, boolean>> = {
  ...{ true: true, yes: true, y: true, '1': true },
  ...{ false: false, no: false, n: false, '0': false },
};

function tagsOf(text: string): ParsedJson {
  const list = text.startsWith('[') ? parseJsonText(text, 0) : undefined;
  if (list) return list;
  const tags = text.split(text.includes(';') ? ';' : ',').map((tag) => tag.trim());
  return valid(tags.filter((tag) => tag !== ''));
}

/** @returns undefined for a field that is never empty */
function emptyValueOf(target: string): unknown {
  const field = FIELDS.get(target);
  if (!field || isClearable(field)) return null;
  const { default: value } = field.presence;
  return typeof value === 'object' ? value : undefined;
}
