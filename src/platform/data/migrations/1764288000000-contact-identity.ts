import { setTimeout as sleep } from 'node:timers/promises';
import { domainToASCII } from 'node:url';
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const BATCH = 1_000;

const FIELDS = ['email', 'phone'] as const;

interface Lead {
  readonly id: string;
  readonly first_name: string;
  readonly last_name: string | null;
  readonly company: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly phone_compared: string | null;
  readonly created_at: string;
  readonly email_compared: string | null;
}

const READ_BATCH = `
  select id, created_at::text as created_at, first_name, last_name, company, email, phone,
    email_compared, phone_compared from leads
  where organization_id = $1 and deleted_at is null
    and ($2::timestamptz is null or (created_at, id) > ($2::timestamptz, $3::uuid))
  order by created_at, id limit ${BATCH}`;

/**
 * Adds extensions to the compared form of phones, and NFC and IDNA to that of e-mail addresses. If
 * two leads become equal, the older one keeps the compared form and the newer one loses it.
 */
export class ContactIdentity1764288000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Each server sets its own default at startup.
    await withBriefLock(runner, [
      `alter table organizations alter column phone_region set default 'US'`,
    ]);
    const organizations = (await runner.query('select id, phone_region from organizations')) as {
      id: string;
      phone_region: string;
    }[];
    for (const { id, phone_region } of organizations) await updateLeads(runner, id, phone_region);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table organizations alter column phone_region drop default');
  }
}

/** Computes the compared forms of all leads of an organization, oldest first. */
async function updateLeads(
  runner: QueryRunner,
  organization: string,
  region: string,
): Promise<void> {
  let last: Lead | undefined;
  for (;;) {
    const position = [last?.created_at ?? null, last?.id ?? null];
    const leads: unknown = await inTransaction(runner, organization, () =>
      runner.query(READ_BATCH, [organization, ...position]),
    );
    for (const lead of leads as Lead[]) await updateLead(runner, organization, lead, region);
    last = (leads as Lead[]).at(-1);
    if ((leads as Lead[]).length < BATCH) return;
  }
}

async function updateLead(
  runner: QueryRunner,
  organization: string,
  lead: Lead,
  region: string,
): Promise<void> {
  const forms = {
    email: lead.email === null ? null : comparedEmail(lead.email),
    phone: lead.phone === null ? null : comparedPhone(lead.phone, region),
  };
  for (const field of FIELDS) {
    if (forms[field] === lead[`${field}_compared`]) continue;
    const column = `${field}_compared`;
    await inTransaction(runner, organization, async () => {
      // Newer leads with the same form lose it. They are processed after this one.
      await runner.query(
        `update leads set ${column} = null where organization_id = $1 and deleted_at is null
          and ${column} = $2 and (created_at, id) > ($3::timestamptz, $4::uuid)`,
        [organization, forms[field], lead.created_at, lead.id],
      );
      await runner.query(
        `update leads set ${column} = case when not exists (
            select from leads other where other.organization_id = $1 and other.deleted_at is null
              and other.${column} = $2 and other.id <> $3) then $2 end
          where organization_id = $1 and id = $3 and ${field} = $4`,
        [organization, forms[field], lead.id, lead[field]],
      );
      // Searches also use this form. A lead that was written meanwhile already has its own text.
      await runner.query(
        `update leads set search_text = $3 where organization_id = $1 and id = $2
          and (first_name, last_name, company, email, phone) is not distinct from ($4, $5, $6, $7, $8)`,
        [
          ...[organization, lead.id, searchTextOfLead({ ...lead, phone_compared: forms.phone })],
          ...[lead.first_name, lead.last_name, lead.company, lead.email, lead.phone],
        ],
      );
    });
  }
}

/** Sets the organization, because row-level security may bind the owner of the tables. */
async function inTransaction<T>(
  runner: QueryRunner,
  organization: string,
  work: () => Promise<T>,
): Promise<T> {
  await runner.startTransaction();
  try {
    await runner.query(`select set_config('app.organization_id', $1, true)`, [organization]);
    const result = await work();
    await runner.commitTransaction();
    return result;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

/** The compared form as of this migration. Later versions may compare differently. */
function comparedEmail(email: string): string {
  const composed = email.trim().toLowerCase().normalize('NFC');
  const at = composed.lastIndexOf('@') + 1;
  const domain = composed.slice(at);
  return composed.slice(0, at) + (domainToASCII(domain) || domain);
}

/** The compared form as of this migration. Later versions may compare differently. */
function comparedPhone(phone: string, region: string): string {
  const spellings = /^\D*00/.test(phone) ? [phone, phone.replace(/^\D*00/, '+')] : [phone];
  for (const spelling of spellings) {
    const parsed = parsePhoneNumberFromString(spelling, region as CountryCode);
    if (parsed?.isPossible()) return parsed.number + (parsed.ext ? `x${parsed.ext}` : '');
  }
  return phone.replaceAll(/\D/g, '');
}

/**
 * Runs statements that need an exclusive lock, in one transaction. Requests queue behind a pending
 * lock, so each attempt waits for one second at most.
 */
async function withBriefLock(runner: QueryRunner, statements: readonly string[]): Promise<void> {
  for (;;) {
    await runner.startTransaction();
    try {
      await runner.query('set local lock_timeout = 1000');
      for (const statement of statements) await runner.query(statement);
      await runner.commitTransaction();
      return;
    } catch (error) {
      await runner.rollbackTransaction();
      const { driverError } = error as { driverError?: { code?: unknown } };
      if (driverError?.code !== '55P03') throw error;
      await sleep(500);
    }
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
