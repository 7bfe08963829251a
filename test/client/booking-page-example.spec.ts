import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { dataOf } from '../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../src/testing/test-server.js';
import { freePort } from '../support/servers/free-port.js';
import { until } from '../support/servers/product.js';

const ROOT = path.resolve(__dirname, '../..');
const SERVER = path.join(ROOT, 'examples/booking-page/server.mjs');
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

type Form = Record<string, string>;

let app: TestServer;
let tenant: Tenant;
let folder: string;
let page: ChildProcess;
let url: string;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
  const hours = Object.fromEntries(DAYS.map((day) => [day, [{ start: '00:00', end: '24:00' }]]));
  for (const name of ['Anna', 'Ben']) await tenant.api.post('/api/v1/resources', { name, hours });
  folder = await mkdtemp(path.join(tmpdir(), 'booking-page-'));
  await copyFile(SERVER, path.join(folder, 'server.mjs'));
  const client = path.join(folder, 'node_modules/latitude-client');
  await mkdir(client, { recursive: true });
  const built = pathToFileURL(path.join(ROOT, 'dist/client/index.js')).href;
  await writeFile(path.join(client, 'package.json'), '{ "type": "module", "main": "index.js" }');
  await writeFile(path.join(client, 'index.js'), `export * from '${built}';`);
  const { key } = await app.key(tenant.id, [
    ...(['appointments:read', 'appointments:write', 'leads:read', 'leads:write'] as const),
  ]);
  const port = String(await freePort());
  const env = { ...process.env, LATITUDE_URL: app.url, LATITUDE_KEY: key.key, PORT: port };
  page = spawn(process.execPath, ['server.mjs'], { cwd: folder, env, stdio: 'ignore' });
  url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(url).catch(() => undefined))?.ok === true);
});
afterAll(async () => {
  page.kill();
  await app.stop();
  await rm(folder, { recursive: true });
});

const open = async () => (await fetch(url)).text();
const submit = async (action: string, form: Form) =>
  (await fetch(url + action, { method: 'POST', body: new URLSearchParams(form) })).text();

/** The hidden fields of the forms of a page. */
function formsOf(html: string): Form[] {
  return html
    .split('<form')
    .slice(1)
    .map((form) => {
      const fields = form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g);
      return Object.fromEntries([...fields].map(([, name, value]) => [name, value])) as Form;
    });
}

it('has about 60 lines', async () => {
  const lines = (await readFile(SERVER, 'utf8')).split('\n').filter((line) => line !== '');
  expect(lines.length).toBeLessThanOrEqual(65);
});

it('shows free times, holds one, and books it once for a form that is sent twice', async () => {
  const [, slot] = formsOf(await open()) as [Form, Form];
  const [hold] = formsOf(await submit('/hold', slot)) as [Form];
  const visitor = { ...hold, first_name: '<i>Grace', email: 'grace@example.com' };
  expect(await submit('/book', { ...visitor, email: '<grace>' })).toContain('email must be');
  expect(await submit('/book', visitor)).toContain('Booked: ');
  expect(await submit('/book', visitor)).toContain('Booked: ');
  const booked = dataOf<object[]>(await tenant.api.get('/api/v1/appointments'));
  expect(booked).toMatchObject([{ start_time: slot.start_time, end_time: slot.end_time }]);
  const leads = dataOf<object[]>(await tenant.api.get('/api/v1/leads'));
  expect(leads).toMatchObject([{ email: 'grace@example.com' }]);
});

it('offers the next free times to who was too late, and all of them when the hold has ended', async () => {
  const [, , slot] = formsOf(await open()) as [Form, Form, Form];
  const [first] = formsOf(await submit('/hold', slot)) as [Form];
  await submit('/hold', slot);
  const late = await submit('/hold', slot);
  expect(late).toContain('Somebody was faster.');
  const next = formsOf(late);
  expect(next).toHaveLength(3);
  expect(Date.parse(next[0]!.start_time!)).toBeGreaterThan(Date.parse(slot.start_time!));
  await tenant.api.delete(`/api/v1/holds/${first.hold_id}`);
  const ended = await submit('/book', { ...first, first_name: 'Ada', email: 'ada@example.com' });
  expect(ended).toContain('The five minutes are over.');
  expect(formsOf(ended).map(({ start_time }) => start_time)).toContain(slot.start_time);
});
