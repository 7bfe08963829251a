// Measures the cost of row-level security: the same statements without a policy, with the tenant set under the
// same Sync (as Latitude does), and in a separate transaction. Run: node bench/row-level-security.mjs
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import 'reflect-metadata';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../dist/src/platform/data/connection/data-source-options.js';
import { openEmbeddedPostgres } from '../dist/src/ops/embedded-postgres/embedded-postgres.js';
import { migrate } from '../dist/src/platform/data/migrate.js';
import { StatementPipeline } from '../dist/src/platform/data/connection/statement-pipeline.js';

const ORGANIZATIONS = 10;
const LEADS = 20_000;
const ROUNDS = 15;
const REQUESTS = 1_500;
const CONNECTIONS = 8;

const SET_TENANT = `select set_config('role', 'latitude_app', true),
  set_config('app.organization_id', $1, true)`;
const STATEMENTS = {
  get: `select id, first_name, email, created_at from leads
    where organization_id = $1 and id = $2 and deleted_at is null`,
  list: `select id, first_name, email, created_at from leads where organization_id = $1
    and $2::uuid is not null and deleted_at is null order by created_at desc, id desc limit 50`,
};

const STRATEGIES = {
  'no policy': (client, name, values) => client.query({ name, text: STATEMENTS[name], values }),
  'one Sync': (client, name, values) => {
    const setting = { name: 'tenant', text: SET_TENANT, values: [values[0]], isSetting: true };
    const statement = { name, text: STATEMENTS[name], values };
    const pipeline = new StatementPipeline([setting, statement]);
    client.query(pipeline);
    return pipeline.result;
  },
  transaction: async (client, name, values) => {
    await client.query('begin');
    await client.query({ name: 'tenant', text: SET_TENANT, values: [values[0]] });
    const result = await client.query({ name, text: STATEMENTS[name], values });
    await client.query('commit');
    return result;
  },
};

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function fill(client) {
  await client.query(
    `insert into organizations select ('00000000-0000-4000-8000-' || lpad(g::text, 12, '0'))::uuid,
       'o', 'US' from generate_series(0, $1::int - 1) g`,
    [ORGANIZATIONS],
  );
  const { rows } = await client.query(
    `insert into leads (organization_id, id, first_name, email, source, tags, custom_fields,
       lead_score, created_at, sms_opted_out, on_dnc_list)
     select ('00000000-0000-4000-8000-' || lpad((g % $1)::text, 12, '0'))::uuid, gen_random_uuid(),
       'Name ' || g, 'lead' || g || '@example.com', 'api', '{}', '{}', 0,
       now() - g * interval '1 minute', false, false
     from generate_series(1, $2::int) g returning organization_id, id`,
    [ORGANIZATIONS, LEADS],
  );
  await client.query('vacuum analyze leads');
  return rows.map((row) => [row.organization_id, row.id]);
}

/** @returns statements a second over the connections, each running one statement after the other */
async function measure(clients, strategy, name, records) {
  let next = 0;
  const started = performance.now();
  const worker = async (client) => {
    while (next < REQUESTS) await strategy(client, name, records[(next++ * 7919) % records.length]);
  };
  await Promise.all(clients.map(worker));
  return (REQUESTS / (performance.now() - started)) * 1_000;
}

const dataDir = mkdtempSync(path.join(os.tmpdir(), 'latitude-bench-'));
const postgres = await openEmbeddedPostgres({ dataDir, role: 'server' });
const clients = [];
try {
  const dataSource = await new DataSource(dataSourceOptions(postgres.connection)).initialize();
  await migrate(dataSource);
  await dataSource.destroy();
  for (let i = 0; i < CONNECTIONS; i++) {
    const client = new pg.Client(postgres.connection);
    await client.connect();
    clients.push(client);
  }
  const records = await fill(clients[0]);
  for (const name of Object.keys(STATEMENTS)) {
    for (const used of [1, CONNECTIONS]) {
      const selected = clients.slice(0, used);
      const ratios = { 'one Sync': [], transaction: [] };
      const baseline = [];
      for (let round = 0; round <= ROUNDS; round++) {
        const rates = {};
        const order = Object.keys(STRATEGIES).map((_, i, all) => all[(i + round) % all.length]);
        for (const strategy of order)
          rates[strategy] = await measure(selected, STRATEGIES[strategy], name, records);
        if (round === 0) continue;
        baseline.push(rates['no policy']);
        for (const strategy of Object.keys(ratios))
          ratios[strategy].push(rates[strategy] / rates['no policy']);
      }
      const formatRatio = Object.entries(ratios).map(
        ([strategy, all]) => `${strategy} ${median(all).toFixed(2)}`,
      );
      console.log(
        `${name}, ${used} connection(s): no policy 1.00 (${median(baseline).toFixed(0)}/s), ${formatRatio.join(', ')}`,
      );
    }
  }
} finally {
  await Promise.all(clients.map((client) => client.end()));
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
