import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ApiClient } from '../../../../src/testing/api-client.js';
import { dataOf, LEADS } from '../../../../src/testing/factories.js';
import { type ImportRecord, IMPORTS, sendFile, untilEnded } from '../../../support/lead-imports.js';
import { Product, type RunningServer, UNLIMITED, until } from '../../../support/servers/product.js';

const LINES = 1_200;

/** One line in a hundred is rejected. */
const CSV = [
  'first_name,email,external_id',
  ...Array.from({ length: LINES }, (_, n) => {
    return `Ada ${n},${n % 100 === 0 ? 'nobody' : `${n}@example.com`},crm-${n}`;
  }),
].join('\n');

const ENDED = { status: 'completed', lines: LINES, processed: LINES, rejected: LINES / 100 };

let product: Product;
let server: RunningServer;
let organization: string;
let key: string;
let file: string;

beforeAll(async () => {
  product = new Product(UNLIMITED);
  server = await product.start();
  file = path.join(product.dataDir, 'leads.csv');
  writeFileSync(file, CSV);
});
beforeEach(async () => {
  const create = await product.latitude<{ id: string }>('organizations', 'create', '--name', 'o');
  organization = create.id;
  const args = ['keys', 'create', '--organization', organization, '--name', 'k', '--scopes', 'all'];
  ({ key } = await product.latitude<{ key: string }>(...args));
});
afterAll(async () => {
  await server.stop();
  await product.remove();
});

const client = () => new ApiClient(server.url, key);

async function importOf(id: string): Promise<ImportRecord> {
  return dataOf<ImportRecord>(await client().get(`${IMPORTS}/${id}`));
}

/** Expects each valid line to be one lead with one event, and each invalid one to be one rejection. */
async function expectEachLineOnce(id: string): Promise<void> {
  const [row] = await product.sql<object>(
    `select (select count(*)::int from leads where organization_id = $1) as leads,
       (select count(distinct external_id)::int from leads where organization_id = $1) as ids,
       (select count(*)::int from (select record_id from events where organization_id = $1 and type like 'lead.%'
          union all select record_id from event_outbox
            where organization_id = $1 and type like 'lead.%') event) as events,
       (select count(*)::int from lead_import_rejections where organization_id = $1 and import_id = $2) as rejections,
       (select count(*)::int from lead_import_chunks where organization_id = $1) as chunks`,
    [organization, id],
  );
  const leads = LINES - LINES / 100;
  const expected = { leads, ids: leads, events: leads, rejections: LINES / 100, chunks: 0 };
  expect(row).toEqual(expected);
}

/** Lets an import fail at a line, so that it is carried out up to this line and does not end. It is repeated. */
async function closeGate(): Promise<void> {
  await product.sql(`create function refuse_lead() returns trigger language plpgsql as
    $$ begin raise 'not yet' using errcode = 'serialization_failure'; end $$`);
  await product.sql(`create trigger refuse_lead before insert on leads for each row
    when (new.external_id = 'crm-1000') execute function refuse_lead()`);
}

/** Ends the leases of a process that was killed, as their time does. */
const endLeases = () => product.sql('update jobs set run_at = now() where is_running');

const openGate = () => product.sql('drop function refuse_lead cascade');

/** Waits until records of an import are carried out. Others stay behind the gate. */
async function untilProcessed(id: string, records: number): Promise<void> {
  await until(async () => (await importOf(id)).processed >= records);
  const { status, processed } = await importOf(id);
  expect({ status, isBehind: processed < LINES }).toEqual({ status: 'running', isBehind: true });
}

it('neither loses nor doubles a line if the server is killed', async () => {
  await closeGate();
  const { id } = dataOf<ImportRecord>(await sendFile(client(), CSV), 202);
  await untilProcessed(id, 500);
  server.signal('SIGKILL');
  await server.ended;
  server = await product.start();
  await openGate();
  await endLeases();
  expect(await untilEnded(client(), id)).toMatchObject({ ...ENDED, created: LINES - LINES / 100 });
  await expectEachLineOnce(id);
});

it('continues after a stop without waiting for the lease', async () => {
  await closeGate();
  const { id } = dataOf<ImportRecord>(await sendFile(client(), CSV), 202);
  await untilProcessed(id, 500);
  await server.stop();
  server = await product.start();
  await openGate();
  expect(await untilEnded(client(), id)).toMatchObject(ENDED);
  await expectEachLineOnce(id);
});

describe('latitude leads', () => {
  const command = (...args: string[]) => ['leads', ...args, '--organization', organization];

  it('imports nothing if a file for rejected lines or results cannot be written', async () => {
    const missing = path.join(product.dataDir, 'missing', 'results.csv');
    for (const option of ['--rejected', '--results']) {
      const run = await product.run('cli.js', command('import', file, option, missing));
      expect(run).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toContain(missing);
    }
    expect(dataOf<ImportRecord[]>(await client().get(IMPORTS))).toEqual([]);
  });

  it('imports and exports', async () => {
    const rejected = path.join(product.dataDir, 'rejected.csv');
    const results = path.join(product.dataDir, 'results.csv');
    const args = command('import', file, '--match-on', 'external_id', '--rejected', rejected);
    args.push('--results', results, '--set', '{"tags":["fair"]}');
    const run = await product.run('cli.js', ['--json', ...args]);
    expect(run).toMatchObject({ code: 1, stderr: '' });
    const { id, ...ended } = JSON.parse(run.stdout) as ImportRecord;
    expect(ended).toMatchObject({ ...ENDED, match_on: ['external_id'] });
    await expectEachLineOnce(id);
    expect(statSync(rejected).mode & 0o777).toBe(0o600);
    const lines = readFileSync(rejected, 'utf8').split('\r\n');
    expect(lines).toHaveLength(LINES / 100 + 2);
    expect(lines[1]).toBe('2,email must be a valid e-mail address,Ada 0,nobody,crm-0');

    expect(statSync(results).mode & 0o777).toBe(0o600);
    const outcomes = readFileSync(results, 'utf8').trimEnd().split('\r\n');
    expect(outcomes).toHaveLength(LINES + 1);
    expect(outcomes.slice(0, 2)).toEqual(['line,action,id', '2,rejected,']);

    const marked = path.join(product.dataDir, 'export.csv');
    const options = ['--delimiter', 'semicolon', '--bom', '--filter', 'external_id=crm-7'];
    await product.latitude(...command('export', marked, ...options));
    const [, lead] = readFileSync(marked, 'utf8').split('\r\n');
    expect(readFileSync(marked, 'utf8')).toMatch(/^\ufeffid;first_name;/);
    expect(outcomes[8]).toBe(`9,created,${lead!.split(';')[0]}`);
    expect(lead).toContain('"[""fair""]"');

    const written = path.join(product.dataDir, 'export.ndjson');
    const exported = await product.latitude<object>(
      ...command('export', written, '--format', 'ndjson', '--filter', 'external_id=crm-7'),
    );
    expect(exported).toEqual({ file: written });
    const answer = await client().get(`${LEADS}/export?format=ndjson&external_id=crm-7`);
    expect(readFileSync(written, 'utf8')).toBe(answer.body);
    const again = await product.run('cli.js', command('export', written));
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') as string });
    const unclear = await product.run('cli.js', command('export', '--filter', 'status'));
    expect(unclear).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('write status=value') as string,
    });
    const printed = await product.run(
      'cli.js',
      command('export', '--filter', 'search=none', 'tag=a', 'tag=b'),
    );
    expect(printed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^id,[^\n]+\r\n$/) as string,
    });
  });

  it('names an option that is not valid, and an unknown organization', async () => {
    const mode = await product.run('cli.js', command('import', file, '--mode', 'all'));
    expect(mode).toMatchObject({ code: 1, stderr: expect.stringContaining('mode') as string });
    const unknown = await product.run('cli.js', [
      ...['leads', 'export', '--organization', '01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21'],
    ]);
    expect(unknown).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no such') as string,
    });
  });

  it('carries an import out itself where no server runs', async () => {
    await server.stop();
    const run = await product.run('cli.js', ['--json', ...command('import', file)]);
    server = await product.start();
    const { id, ...ended } = JSON.parse(run.stdout) as ImportRecord;
    expect(run).toMatchObject({ code: 1, stderr: '' });
    expect(ended).toMatchObject(ENDED);
    await expectEachLineOnce(id);
  });

  it('leaves an import to the server if it is killed', async () => {
    const process = product.spawnCommand(command('import', file, '--match-on', 'external_id'));
    let id = '';
    await until(async () => {
      const [found] = dataOf<ImportRecord[]>(await client().get(IMPORTS));
      id = found?.id ?? '';
      return (found?.processed ?? 0) >= 500;
    });
    process.signal('SIGKILL');
    await process.ended;
    await endLeases();
    expect(await untilEnded(client(), id)).toMatchObject(ENDED);
    await expectEachLineOnce(id);
  });
});
