import 'reflect-metadata';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { DefaultLeadScorer } from '../../dist/src/modules/leads/lead-scorer.js';
import { leadSearchText } from '../../dist/src/modules/leads/lead-values.js';
import { seededRandom, shuffle } from './random.mjs';

const SEED = 20_261_121;
const FIRST_DAY = Date.UTC(2025, 0, 1);
const TWO_YEARS = 2 * 365 * 86_400_000;
const BATCH = 2_000;
const WRITERS = 2;

/** Leads of the largest organization, and of each other one, that requests get and update. */
const SAMPLE = { largest: 1_000, other: 100 };

const words = (text) => text.split(/\s+/);
const FIRST_NAMES = words(`Ada Alan Barbara Dennis Donald Edsger Frances Grace Hedy Jean John
  Katherine Ken Leslie Linus Margaret Niklaus Radia Tim Tony`);
export const LAST_NAMES = words(`Allen Bartik Berners-Lee Dijkstra Hamilton Hoare Hopper Johnson Kay
  Knuth Lamarr Lamport Liskov Lovelace McCarthy Perlman Ritchie Thompson Turing Wirth`);
const COMPANIES = ['Northwind', 'Acme Roofing', 'Blue Door Realty', 'Harbor Dental', null];
const STATUSES = ['new', 'contacted', 'qualified', 'won', 'lost', null];
const TEMPERATURES = ['cold', 'warm', 'hot', null];
const SOURCES = ['manual', 'api', 'website', 'referral', 'import'];
const TAGS = ['newsletter', 'returning', 'vip', 'trade-fair', 'spring-campaign'];
const NOTES = ['Asked to be called back on Thursday after lunch.', 'Prefers e-mail.', null, null];
const SECTIONS = [
  ['12 Market Street', 'San Francisco', 'CA', '94103'],
  ['480 Lake Avenue', 'Chicago', 'IL', '60611'],
  ['7 Harbour Road', 'Boston', 'MA', '02110'],
  [null, null, null, null],
];

const COLUMNS = `organization_id, id, first_name, last_name, phone, email, company, address_street,
  city, state, zip, status, temperature, source, notes, tags, custom_fields, lead_score,
  created_at, updated_at, sms_opted_out, on_dnc_list, phone_compared, email_compared, search_text`;

/** Session settings that speed up bulk inserts. */
export const FOR_FILLING = `set synchronous_commit = off; set gin_pending_list_limit = '64MB'`;

/**
 * Inserts leads. Apart from the ids of organizations, they are the same on every run.
 * @returns a sample of the leads of each organization, in random order
 */
export async function fillLeads(client, organizations) {
  const total = organizations.reduce((sum, { size }) => sum + size, 0);
  const random = seededRandom(SEED);
  // The rows of the organizations are interleaved, as if they grew at the same time.
  const owners = shuffle(
    organizations.flatMap(({ size }, index) => Array(size).fill(index)),
    random,
  );
  const sampler = new Sampler(organizations);
  let next = 0;
  const nextBatch = () => {
    const batch = [];
    for (; next < total && batch.length < BATCH; next++) {
      const createdAt = FIRST_DAY + Math.floor((next / total) * TWO_YEARS);
      const lead = makeLead(next, organizations[owners[next]].id, createdAt, random);
      batch.push(lead);
      sampler.add(owners[next], lead);
    }
    return batch;
  };
  const { host, port, user, database } = client;
  const write = async () => {
    const writer = new pg.Client({ host, port, user, database });
    // A lost connection fails the statement that uses it, and not the process.
    writer.on('error', () => undefined);
    await writer.connect();
    try {
      await writer.query(FOR_FILLING);
      for (let batch = nextBatch(); batch.length > 0; batch = nextBatch()) {
        await writer.query(
          `insert into leads (${COLUMNS})
           select ${COLUMNS} from json_populate_recordset(null::leads, $1)`,
          [JSON.stringify(batch)],
        );
      }
    } finally {
      await writer.end();
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  await client.query('vacuum analyze');
  return shuffle(sampler.leads, random);
}

/** Chooses leads that are spread evenly over each organization. */
class Sampler {
  leads = [];
  #steps;
  #counts;

  constructor(organizations) {
    const largest = Math.max(...organizations.map(({ size }) => size));
    this.#steps = organizations.map(({ size }) =>
      Math.ceil(size / (size === largest ? SAMPLE.largest : SAMPLE.other)),
    );
    this.#counts = organizations.map(() => 0);
  }

  add(owner, lead) {
    if (this.#counts[owner]++ % this.#steps[owner] === 0) this.leads.push(lead);
  }
}

const scorer = new DefaultLeadScorer();

function makeLead(n, organization, createdAt, random) {
  const pick = (values) => values[Math.floor(random() * values.length)];
  const [first, last] = [pick(FIRST_NAMES), pick(LAST_NAMES)];
  const [street, city, state, zip] = pick(SECTIONS);
  const email = `${first}.${last}.${n}@example.com`;
  const phone = `+1415${2_000_000 + n}`;
  const created = new Date(createdAt).toISOString();
  const lead = {
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
    created_at: created,
    updated_at: created,
    sms_opted_out: random() < 0.05,
    on_dnc_list: random() < 0.05,
    phone_compared: phone,
    email_compared: email.toLowerCase(),
  };
  const search_text = leadSearchText(lead, { normalized: phone, digits: phone.slice(1) });
  return { ...lead, search_text, lead_score: scorer.score(lead) };
}
