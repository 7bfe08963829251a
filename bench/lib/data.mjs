import { v7 as uuidv7 } from 'uuid';

/** Leads of each organization: together 20,000. */
const SIZES = [8_000, 5_000, 4_000, 2_000, 1_000];
const SEED = 20_261_121;
const FIRST_DAY = Date.UTC(2025, 0, 1);
const TWO_YEARS = 2 * 365 * 86_400_000;
const BATCH = 2_000;

const FIRST_NAMES = `Ada Alan Barbara Dennis Donald Edsger Frances Grace Hedy Jean John Katherine
  Ken Leslie Linus Margaret Niklaus Radia Tim Tony`.split(/\s+/);
const LAST_NAMES = `Allen Bartik Berners-Lee Dijkstra Hamilton Hoare Hopper Johnson Kay Knuth Lamarr
  Lamport Liskov Lovelace McCarthy Perlman Ritchie Thompson Turing Wirth`.split(/\s+/);
const COMPANIES = ['Northwind', 'Acme Roofing', 'Blue Door Realty', 'Harbor Dental', null];
const STATUSES = ['new', 'contacted', 'qualified', 'won', 'lost', null];
const TEMPERATURES = ['cold', 'warm', 'hot', null];
const SOURCES = ['manual', 'api', 'website', 'referral', 'import'];
const TAGS = ['newsletter', 'returning', 'vip', 'trade-fair', 'spring-campaign'];
const NOTES = ['Asked to be called back on Thursday after lunch.', 'Prefers e-mail.', null, null];
const PLACES = [
  ['12 Market Street', 'San Francisco', 'CA', '94103'],
  ['480 Lake Avenue', 'Chicago', 'IL', '60611'],
  ['7 Harbour Road', 'Boston', 'MA', '02110'],
  [null, null, null, null],
];

const COLUMNS = `organization_id, id, first_name, last_name, phone, email, company, address_street,
  city, state, zip, status, temperature, source, notes, tags, custom_fields, lead_score,
  created_at, updated_at, sms_opted_out, on_dnc_list, phone_compared, email_compared`;

/** Organizations with a key each, made by the command line. */
export async function makeOrganizations(latitude) {
  const organizations = [];
  for (const [index, size] of SIZES.entries()) {
    const name = `Organization ${index + 1}`;
    const { id } = await latitude.command('organizations', 'create', '--name', name);
    const options = ['--organization', id, '--name', 'benchmark', '--scopes', 'all'];
    const { key } = await latitude.command('keys', 'create', ...options);
    organizations.push({ id, key, size });
  }
  return organizations;
}

/** Fills in the same leads on every run, but for the ids of the organizations. */
export async function fill(client, organizations) {
  const random = generator(SEED);
  const total = organizations.reduce((sum, { size }) => sum + size, 0);
  // Organizations grow side by side, so that their rows lie mixed in the table.
  const owners = shuffle(
    organizations.flatMap(({ id, size }) => Array(size).fill(id)),
    random,
  );
  const leads = owners.map((owner, n) => {
    return makeLead(n, owner, FIRST_DAY + Math.floor((n / total) * TWO_YEARS), random);
  });
  for (let start = 0; start < leads.length; start += BATCH) {
    await client.query(
      `insert into leads (${COLUMNS})
       select ${COLUMNS} from json_populate_recordset(null::leads, $1)`,
      [JSON.stringify(leads.slice(start, start + BATCH))],
    );
  }
  await client.query('vacuum analyze');
  return leads;
}

function makeLead(n, organization, createdAt, random) {
  const pick = (values) => values[Math.floor(random() * values.length)];
  const [first, last] = [pick(FIRST_NAMES), pick(LAST_NAMES)];
  const [street, city, state, zip] = pick(PLACES);
  const email = `${first}.${last}.${n}@example.com`;
  const phone = `+1415${2_000_000 + n}`;
  const created = new Date(createdAt).toISOString();
  return {
    organization_id: organization,
    id: uuidv7({ msecs: createdAt, random: Uint8Array.from({ length: 16 }, () => random() * 256) }),
    first_name: first,
    last_name: last,
    phone,
    email,
    company: pick(COMPANIES),
    address_street: street,
    city,
    state,
    zip,
    status: pick(STATUSES),
    temperature: pick(TEMPERATURES),
    source: pick(SOURCES),
    notes: pick(NOTES),
    tags: TAGS.filter(() => random() < 0.3),
    custom_fields: random() < 0.5 ? { budget: Math.floor(random() * 100) * 500 } : {},
    lead_score: Math.floor(random() * 101),
    created_at: created,
    updated_at: created,
    sms_opted_out: random() < 0.05,
    on_dnc_list: random() < 0.05,
    phone_compared: phone,
    email_compared: email.toLowerCase(),
  };
}

export function shuffle(values, random) {
  const shuffled = [...values];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [shuffled[i], shuffled[j]] = [shuffled[j], shuffled[i]];
  }
  return shuffled;
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
