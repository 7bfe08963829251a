import { domainToASCII } from 'node:url';
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { TENANT_SETTING } from '../tenant-role/tenant-role.js';
import { type SearchedLead, searchTextOfLead } from './1764201600000-search-text-of-leads.js';
import { withBriefLock } from './brief-lock.js';

const BATCH = 1_000;

const FIELDS = ['email', 'phone'] as const;

interface Lead extends SearchedLead {
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
 * Compares phones with their extensions, and e-mails in NFC and by IDNA. Of two leads that become equal
 * the older one keeps the compared form, and the newer one has none.
 */
export class ContactIdentity1764288000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Each server that starts sets its own default.
    await withBriefLock(runner, [
      `alter table organizations alter column phone_region set default 'US'`,
    ]);
    const organizations = (await runner.query('select id, phone_region from organizations')) as {
      id: string;
      phone_region: string;
    }[];
    for (const { id, phone_region } of organizations) await rereadLeads(runner, id, phone_region);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table organizations alter column phone_region drop default');
  }
}

/** Goes through the leads of an organization, the oldest first. */
async function rereadLeads(
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
    for (const lead of leads as Lead[]) await rereadLead(runner, organization, lead, region);
    last = (leads as Lead[]).at(-1);
    if ((leads as Lead[]).length < BATCH) return;
  }
}

async function rereadLead(
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
      // From the newer leads that have the form. They are read after this one.
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
      // A search finds phones by this form, too. A lead that was written meanwhile has its own text.
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

/** Also where row-level security binds the owner of the tables. */
async function inTransaction<T>(
  runner: QueryRunner,
  organization: string,
  work: () => Promise<T>,
): Promise<T> {
  await runner.startTransaction();
  try {
    await runner.query(`select set_config('${TENANT_SETTING}', $1, true)`, [organization]);
    const result = await work();
    await runner.commitTransaction();
    return result;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

/** As when this migration was written; later versions may compare otherwise. */
function comparedEmail(email: string): string {
  const composed = email.trim().toLowerCase().normalize('NFC');
  const at = composed.lastIndexOf('@') + 1;
  const domain = composed.slice(at);
  return composed.slice(0, at) + (domainToASCII(domain) || domain);
}

/** As when this migration was written; later versions may compare otherwise. */
function comparedPhone(phone: string, region: string): string {
  const spellings = /^\D*00/.test(phone) ? [phone, phone.replace(/^\D*00/, '+')] : [phone];
  for (const spelling of spellings) {
    const parsed = parsePhoneNumberFromString(spelling, region as CountryCode);
    if (parsed?.isPossible()) return parsed.number + (parsed.ext ? `x${parsed.ext}` : '');
  }
  return phone.replaceAll(/\D/g, '');
}
