// Measures what each index and each trigger of leads adds to a write. Run on Linux: node bench/write-costs.mjs
import { readFileSync } from 'node:fs';
import 'reflect-metadata';
import { v7 as uuidv7 } from 'uuid';
import { Lead } from '../dist/src/modules/leads/lead.entity.js';
import { INDEX_PLAN } from '../dist/src/platform/data/gateway/batch-connections.js';
import { RecordColumns } from '../dist/src/platform/data/records/stored-record.js';
import { RecordStatements } from '../dist/src/platform/data/records/record-statements.js';
import { tableOf } from '../dist/src/platform/data/records/tenant-entity.js';
import { CREATED_DOMAIN } from './lib/cases.mjs';
import { runCommand } from './lib/command.mjs';
import { fillLeads } from './lib/data.mjs';
import { createOrganizations } from './lib/organizations.mjs';
import { startLatitude } from './lib/start-latitude.mjs';
import { formatNumber, markdownTable } from './lib/tables.mjs';

const USAGE = `node bench/write-costs.mjs [options]

Sends the statements of Latitude over one connection, without, in turn, each index and each trigger of leads. Shows the
processor time that PostgreSQL spends on a lead.

  --rounds N   number of rounds, 1 to 20 (5)
  --help       show this
`;

const LEADS = 30_000;

/** Leads that a measurement writes, and how many of them one statement writes. */
const WRITTEN = 240;
const TOGETHER = 16;

const TENANT = { ...INDEX_PLAN, timezone: 'UTC', jit: 'off', synchronous_commit: 'off' };

/** Finds what can be left out, with the statements that do so and undo it. The primary key is needed. */
const PARTS = `
  select 'index ' || c.relname as name, format('drop index %I', c.relname) as remove,
    pg_get_indexdef(c.oid) as restore
  from pg_index join pg_class c on c.oid = indexrelid
  where indrelid in ('leads'::regclass, 'leads_update_times'::regclass) and not indisprimary
  union all
  select 'trigger ' || tgname, format('alter table leads disable trigger %I', tgname),
    format('alter table leads enable trigger %I', tgname)
  from pg_trigger where tgrelid = 'leads'::regclass and not tgisinternal
    and tgname not like '%truncate' and tgname not like '%delete'
  order by 1`;

const statements = new RecordStatements(tableOf(Lead), new RecordColumns(Lead), 1);
let written = 0;

function newLead() {
  const number = String(++written).padStart(7, '0');
  const [email, phone] = [`grace.${number}@${CREATED_DOMAIN}`, `+1212${number}`];
  return {
    ...{ id: uuidv7(), first_name: 'Grace', last_name: 'Hopper', email, phone, company: 'Navy' },
    ...{ email_compared: email, phone_compared: phone, temperature: 'warm', source: 'api' },
    ...{ tags: ['newsletter'], custom_fields: { budget: 25_000 }, lead_score: 70 },
    ...{ sms_opted_out: false, on_dnc_list: false },
    search_text: `\u0002${phone} ${email} navy grace hopper grace ${phone.slice(1)}`,
  };
}

const CHANGES = {
  notes: () => ({ notes: `Called, and call ${++written} was answered.` }),
  status: () => ({ status: `stage ${++written % 1_000}` }),
  company: () => ({ company: `Company ${++written}`, search_text: `\u0002company ${written}` }),
};

const REQUEST = { key_id: 'lat_key', channel: 'rest', request_id: 'request' };

/** The writes: their statement, and the parameters after the organization for some leads. */
function writesOf(idsOf) {
  const columns = Object.keys(newLead());
  const create = {
    title: 'create',
    text: statements.insert(columns, { omitsDuplicates: true }),
    valuesOf(count) {
      const leads = Array.from({ length: count }, newLead);
      return [leads, leads.map(({ id }) => ({ id, ...REQUEST }))];
    },
  };
  const updates = Object.entries(CHANGES).map(([field, change]) => ({
    title: `update of ${field}`,
    text: statements.set(Object.keys(change()), true).text,
    valuesOf(count) {
      const event = { type: 'lead.updated', changed: [], ...REQUEST };
      return [idsOf(count).map((id) => ({ id, ...event, values: change() }))];
    },
  }));
  return [create, ...updates].flatMap((write) => [
    { ...write, count: 1 },
    { ...write, title: `${write.title}, ${TOGETHER} together`, count: TOGETHER },
  ]);
}

/** The processor time of a process in microseconds. */
function processorTime(pid) {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1_000;
}

/** @returns microseconds a lead for each write */
async function measure({ client, pid, organization }, writes) {
  const costs = [];
  for (const { text, count, valuesOf } of writes) {
    const name = `write ${text.length} ${writes.findIndex((write) => write.text === text)}`;
    const send = () => {
      const values = valuesOf(count).map((value) => JSON.stringify(value));
      return client.query({ name, text, values: [organization, ...values] });
    };
    // PostgreSQL plans the statement and the triggers again after a change of the schema.
    for (let i = 0; i < 5; i++) await send();
    const before = processorTime(pid);
    for (let i = 0; i < WRITTEN / count; i++) await send();
    costs.push((processorTime(pid) - before) / WRITTEN);
  }
  return costs;
}

async function connectAsTenant({ connect, connection }, organization) {
  const client = await connect(connection);
  const settings = { ...TENANT, 'app.organization_id': organization, role: 'latitude_app' };
  const { rows } = await client.query('select pg_backend_pid() as pid');
  for (const [name, value] of Object.entries(settings)) {
    await client.query('select set_config($1, $2, false)', [name, value]);
  }
  return { client, pid: rows[0].pid, organization };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function main(rounds, cleanups) {
  const started = await startLatitude(cleanups, {});
  const { client } = started;
  const [{ id }] = await createOrganizations(client, [LEADS]);
  await fillLeads(client, [{ id, size: LEADS }]);
  const { rows: leads } = await client.query('select id from leads order by md5(id::text)');
  let next = 0;
  const idsOf = (count) => {
    next = (next + count) % (LEADS - count);
    const ids = leads.slice(next, next + count).map((lead) => lead.id);
    return ids.sort();
  };
  const writes = writesOf(idsOf);
  const tenant = await connectAsTenant(started, id);
  const { rows: parts } = await client.query(PARTS);
  const costs = new Map([['all', []], ...parts.map(({ name }) => [name, []])]);
  await measure(tenant, writes);
  for (let round = 1; round <= rounds; round++) {
    let whole = await measure(tenant, writes);
    for (const { name, remove, restore } of parts) {
      costs.get('all').push(whole);
      await client.query(remove);
      const without = await measure(tenant, writes);
      await client.query(restore);
      const after = await measure(tenant, writes);
      // In turn, because the load of the machine and the size of the table change.
      costs.get(name).push(without.map((cost, i) => (whole[i] + after[i]) / 2 - cost));
      whole = after;
    }
    process.stderr.write(`round ${round} of ${rounds}\n`);
  }
  const rows = [...costs].map(([name, measured]) => [
    name,
    ...writes.map((_, i) => formatNumber(median(measured.map((each) => each[i])))),
  ]);
  console.log(markdownTable(['µs', ...writes.map(({ title }) => title)], rows, 0));
}

const option = { name: 'rounds', min: 1, max: 20, fallback: 5 };
await runCommand({ name: 'bench/write-costs', usage: USAGE, option }, main);
