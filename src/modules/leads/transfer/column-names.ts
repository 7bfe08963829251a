import { type Field, fieldsOf, namesOf } from '../../../platform/fields/field.js';
import { CreateLeadDto, LeadDto } from '../lead.dto.js';

/** The fields of a lead that an import sets. */
export const FIELDS: ReadonlyMap<string, Field> = new Map(
  fieldsOf(CreateLeadDto).map((field) => [field.name, field]),
);

/** The target of a column with whole names, which become `first_name` and `last_name`. */
export const FULL_NAME = 'name';

/** The beginning of the target of a custom field. Its key follows. */
export const CUSTOM = 'custom_fields.';

/** The fields of an exported lead that a new lead cannot have. */
const READ_ONLY = namesOf(LeadDto).filter((name) => !FIELDS.has(name));

/** The columns that a file of rejected lines has in addition to those of its import. */
export const REJECTION_COLUMNS = ['rejected_line', 'rejection_reason'] as const;

/** Spellings of headers in other products, such as the exports of Google, Outlook, HubSpot and Salesforce. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  first_name: ['given name', 'forename', 'first'],
  last_name: ['family name', 'surname', 'last'],
  [FULL_NAME]: ['full name', 'contact name', 'lead name', 'display name'],
  phone: ['phone number', 'telephone', 'telephone number', 'tel', 'mobile', 'mobile phone']
    .concat(['mobile phone number', 'mobile number', 'cell', 'cell phone', 'work phone'])
    .concat(['business phone', 'primary phone', 'phone 1 value', 'phone work']),
  email: ['email address', 'mail', 'e mail 1 value', 'primary email', 'work email', 'email work'],
  company: ['company name', 'organization', 'organisation', 'organization name', 'account name']
    .concat(['organization 1 name', 'account', 'business', 'business name', 'associated company'])
    .concat(['employer', 'company account']),
  address_street: ['street', 'street address', 'address', 'address 1', 'address line 1']
    .concat(['mailing street', 'mailing address', 'mailing address line 1', 'address 1 street'])
    .concat(['business street', 'business address', 'business address line 1']),
  city: ['town', 'mailing city', 'business city', 'address 1 city'],
  state: [
    'province',
    'state region',
    'state province',
    'mailing state',
    'mailing state province',
    'state province text only',
    'mailing state province text only',
  ].concat(['business state', 'business state province', 'address 1 region']),
  zip: ['zip code', 'postal code', 'postcode', 'zip postal code', 'mailing zip']
    .concat(['mailing zip code', 'mailing postal code', 'mailing zip postal code'])
    .concat(['business zip', 'business zip code', 'business postal code', 'address 1 postal code']),
  status: ['lead status'],
  notes: ['note', 'comment', 'comments', 'description'],
  tags: ['tag', 'labels', 'label', 'categories', 'group membership'],
  external_id: ['record id', 'record id contact', 'lead id', 'contact id'],
};

/** Longer than any spelling. The time of `normalize()` can grow with the square of the length. */
const MAX_SPELLING = 200;

const BY_SPELLING: ReadonlyMap<string, string> = new Map(
  [...FIELDS.keys(), FULL_NAME].flatMap((name) =>
    [name, ...(SPELLINGS[name] ?? [])].map((spelling) => [keyOf(spelling), name] as const),
  ),
);

const LEFT_OUT: ReadonlyMap<string, string> = new Map(
  [...READ_ONLY, ...REJECTION_COLUMNS].map((name) => [keyOf(name), name]),
);

/** A header without anything but letters and digits, in lower case. It is empty for one that is no spelling. */
function keyOf(header: string): string {
  if (header.length > MAX_SPELLING) return '';
  return header
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Whether a header is a name, apart from case and everything but letters and digits. */
export function isSpelling(header: string, name: string): boolean {
  const key = keyOf(header);
  return key !== '' && key === keyOf(name);
}

/** @returns the field that a header spells, or `FULL_NAME` */
export function fieldOfHeader(header: string): string | undefined {
  return BY_SPELLING.get(keyOf(header));
}

/** @returns the column of an export or of a file of rejected lines that a header spells, and that no lead takes */
export function ownColumnOfHeader(header: string): string | undefined {
  return LEFT_OUT.get(keyOf(header));
}

/** @returns the column of a file of rejected lines that a header spells */
export function rejectionColumnOf(header: string): string | undefined {
  const name = ownColumnOfHeader(header);
  return REJECTION_COLUMNS.find((each) => each === name);
}

/** Whether a header is one that Latitude knows, so that it cannot be a value of a person. */
export function isKnownHeader(header: string): boolean {
  const key = keyOf(header);
  return BY_SPELLING.has(key) || LEFT_OUT.has(key);
}

/**
 * Finds the columns that are not imported unless they are mapped: those of an export that no lead takes, and those of a
 * file of rejected lines. `id` alone is no sign of an export, because other products have such a column.
 * @param keepsUnknown whether a column that is not one of those becomes a custom field
 */
export function leftOutColumns(headers: readonly string[], keepsUnknown: boolean): Set<string> {
  const names = new Set(headers.map(ownColumnOfHeader));
  const isExport = READ_ONLY.every((name) => names.has(name));
  const isRejected = REJECTION_COLUMNS.every((name) => names.has(name));
  const ofExport = keepsUnknown ? [] : READ_ONLY.filter((name) => name !== 'id');
  const leftOut = new Set([
    ...(isExport ? READ_ONLY : ofExport),
    ...(isRejected ? REJECTION_COLUMNS : []),
  ]);
  return new Set(
    headers.filter((header) => {
      const name = ownColumnOfHeader(header);
      return name !== undefined && leftOut.has(name);
    }),
  );
}

/** Whether a column can go to a target: a field, `FULL_NAME`, or a key of `custom_fields`. */
export function isTarget(target: string): boolean {
  return FIELDS.has(target) || target === FULL_NAME || isCustom(target);
}

export function isCustom(target: string): boolean {
  return target.startsWith(CUSTOM) && target !== CUSTOM;
}
