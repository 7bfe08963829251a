import { parsePhoneNumberFromString } from 'libphonenumber-js';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Leads that one transaction fills in. Small batches keep locks short. */
const BATCH = 500;

interface Lead {
  readonly id: string;
  readonly first_name: string;
  readonly last_name: string | null;
  readonly company: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly phone_compared: string | null;
}

/** Fills in the column for existing leads, without locking out writers. */
export class FillSearchText1764201600001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = (await runner.query('select id from organizations')) as { id: string }[];
    let filled = 0;
    for (const { id } of organizations) filled += await fillOrganization(runner, id);
    // Index-only scans need an up-to-date visibility map.
    if (filled > 0) await runner.query('vacuum (truncate false) leads');
  }

  async down(): Promise<void> {
    // The texts are dropped with their column.
  }
}

const READ_BATCH = `
  select id, first_name,last_name,company,email,phone, phone_compared from leads
  where organization_id = $1 and ($2::uuid is null or id > $2) and search_text_next is null
  order by id limit ${BATCH}`;

/** A lead that was written meanwhile already has its text. */
const FILL_BATCH = `
  update leads set search_text_next = filled.text
  from unnest($2::uuid[], $3::text[]) as filled (id, text)
  where leads.organization_id = $1 and leads.id = filled.id and search_text_next is null`;

async function fillOrganization(runner: QueryRunner, organization: string): Promise<number> {
  let filled = 0;
  let after: string | null = null;
  for (;;) {
    await runner.startTransaction();
    // Row-level security may bind the owner of the tables, too.
    await runner.query(`select set_config('app.organization_id', $1, true)`, [organization]);
    const leads = (await runner.query(READ_BATCH, [organization, after])) as Lead[];
    const [ids, texts] = [leads.map(({ id }) => id), leads.map(searchTextOfLead)];
    if (leads.length > 0) await runner.query(FILL_BATCH, [organization, ids, texts]);
    await runner.commitTransaction();
    filled += leads.length;
    after = ids.at(-1) ?? null;
    if (leads.length < BATCH) return filled;
  }
}

const MAX_SEARCH_TEXT_BYTES = 2_600;

/** The search text of a lead as of this migration. Later versions may build it differently. */
function searchTextOfLead(lead: Lead): string {
  const { first_name: first, last_name: last, company, email, phone } = lead;
  const names = last === null ? first : `${first} ${last} ${first}`;
  const texts = [phone, email, company, names].filter((text) => text !== null);
  const words = texts
    // oxlint-disable-next-line no-control-regex
    .map((text) => foldCase(text).replaceAll(/[\x1e\x1f]/g, ' '))
    .join('\x1f');
  const separated = texts.filter((text) => /[0-9][^0-9]+[0-9]/.test(text)).map(digitsOf);
  const numbers = `\x1e${withoutParts([...numbersOf(lead), ...separated]).join('\x1f')}`;
  return cut(words, MAX_SEARCH_TEXT_BYTES - numbers.length) + numbers;
}

function numbersOf({ phone, phone_compared: compared }: Lead): string[] {
  if (phone === null) return [];
  const isForeign = compared?.startsWith('+') && !compared.startsWith('+1');
  const national = isForeign ? parsePhoneNumberFromString(compared ?? '')?.formatNational() : '';
  return [compared ?? '', digitsOf(national ?? ''), digitsOf(phone)];
}

function digitsOf(text: string): string {
  return text.replaceAll(/[^0-9]/g, '');
}

function withoutParts(numbers: readonly string[]): string[] {
  return numbers.filter((number, index) => {
    return !numbers.slice(0, index).some((earlier) => earlier.includes(number));
  });
}

function foldCase(text: string): string {
  const upper = text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
  return upper.replaceAll('İ', 'I').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

function cut(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}
