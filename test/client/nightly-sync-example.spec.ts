import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { eventIdOf } from '../../src/modules/events/event-id.js';
import { EventPublisher } from '../../src/modules/events/event-publisher.js';
import type { DatabaseTarget } from '../../src/platform/data/connection/data-source-options.js';
import { createDatabase, databaseOf, dropDatabase, query } from '../../src/testing/databases.js';
import { createLead, LEADS, updateLead } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';

const ROOT = path.resolve(__dirname, '../..');

let app: TestApp;
let tenant: Tenant;
let copy: DatabaseTarget;
let folder: string;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  copy = await createDatabase('empty');
  folder = await mkdtemp(path.join(tmpdir(), 'nightly-sync-'));
  await copyFile(path.join(ROOT, 'examples/nightly-sync/sync.mjs'), path.join(folder, 'sync.mjs'));
  const client = path.join(folder, 'node_modules/latitude-client');
  await mkdir(client, { recursive: true });
  await symlink(path.join(ROOT, 'node_modules/pg'), path.join(folder, 'node_modules/pg'));
  const built = pathToFileURL(path.join(ROOT, 'dist/client/index.js')).href;
  await writeFile(path.join(client, 'package.json'), '{ "type": "module", "main": "index.js" }');
  await writeFile(path.join(client, 'index.js'), `export * from '${built}';`);
});
afterAll(async () => {
  await app.stop();
  await dropDatabase(copy);
  await rm(folder, { recursive: true });
});

/** Runs the example to its end, and returns what it prints. */
async function runSync(): Promise<string> {
  await app.app.get(EventPublisher).publish();
  const { host, port, username, password } =
    'url' in copy ? addressOf(copy.url) : { ...copy, username: copy.user, password: '' };
  const env = {
    ...process.env,
    LATITUDE_URL: app.url,
    LATITUDE_KEY: tenant.key.key,
    PGHOST: host,
    PGPORT: String(port),
    PGUSER: username,
    PGPASSWORD: password,
    PGDATABASE: databaseOf(copy),
  };
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['sync.mjs'], { cwd: folder, env });
  return stdout.trim();
}

function addressOf(url: string) {
  const { hostname: host, port, username, password } = new URL(url);
  return { host, port, username, password };
}

async function copied(): Promise<unknown[]> {
  return (await query<{ lead: unknown }>(copy, 'select lead from leads order by id')).map(
    ({ lead }) => lead,
  );
}

describe('examples/nightly-sync', () => {
  it('copies all leads, then what has changed, and all again after a long pause', async () => {
    const [one, two] = [await createLead(tenant.api), await createLead(tenant.api)];
    expect(await runSync()).toBe('2 pages, 2 leads');
    expect(await copied()).toEqual([one, two].sort((a, b) => (a.id < b.id ? -1 : 1)));

    const changed = await updateLead(tenant.api, one.id, { company: 'Navy' });
    await tenant.api.delete(`${LEADS}/${two.id}`);
    expect(await runSync()).toBe('1 pages, 1 leads');
    expect(await copied()).toEqual([changed]);

    await app.sql('update event_position set expired_before = 1000000000');
    await query(copy, `update sync_state set state = '{ "events": "${eventIdOf(1e9 - 1)}" }'`);
    expect(await runSync()).toBe('2 pages, 1 leads');
    expect(await copied()).toEqual([changed]);
  });
});
