import { dataOf } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { captureLog } from '../../support/captured-log.js';
import { importFile, type ImportRecord, IMPORTS, sendFile } from '../../support/lead-imports.js';
import { until } from '../../support/servers/product.js';

// Broken on purpose for docs/operating/runbook.md#work-in-the-background-is-late

const log = captureLog('info');

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => app.stop());

async function metrics(): Promise<Record<string, number>> {
  const text = await (await fetch(`${app.url}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line.startsWith('latitude_import'));
  return Object.fromEntries(
    samples.map((line) => [line.split(' ')[0]!, Number(line.split(' ')[1])]),
  );
}

/** How much each metric has grown, without those that have not. */
async function growth(before: Record<string, number>): Promise<Record<string, number>> {
  const after = await metrics();
  const grown = Object.entries(after).map(([name, value]) => [name, value - (before[name] ?? 0)]);
  return Object.fromEntries(grown.filter(([, value]) => value !== 0)) as Record<string, number>;
}

const linesAbout = (id: string) =>
  log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line.import === id);

const FILE = 'first_name,email\nAda,ada@canary.example\nAda,ada@canary.example\nBo,nonsense\nCy,';

it('an import is counted with its lines, and logged without their values', async () => {
  const before = await metrics();
  const { id } = await importFile(tenant.api, FILE);
  expect(await growth(before)).toEqual({
    latitude_imports_begun_total: 1,
    'latitude_imports_ended_total{status="completed"}': 1,
    'latitude_import_lines_total{outcome="created"}': 2,
    'latitude_import_lines_total{outcome="unchanged"}': 1,
    'latitude_import_lines_total{outcome="rejected"}': 1,
  });
  const common = { import: id, organization: tenant.id };
  expect(linesAbout(id)).toMatchObject([
    { ...common, msg: 'an import has begun', format: 'csv', lines: 4, dry_run: false },
    { ...common, msg: 'an import has ended', status: 'completed', created: 2, rejected: 1 },
  ]);
  expect(linesAbout(id)[1]?.seconds).toEqual(expect.any(Number));
  expect(log.join('')).not.toMatch(/canary|nonsense/);
});

it('an import that is cancelled before it runs has ended and not begun', async () => {
  await app.sql(
    `insert into lead_imports (organization_id, id, status, format, mode, match_on, dry_run,
       ignored_columns, bytes, plan, starter, position, line)
     values ($1, gen_random_uuid(), 'pending', 'csv', 'create_only', '{}', false, '{}', 0, '{}', '{}', 0, 1)`,
    [tenant.id],
  );
  const [{ id }] = dataOf<[ImportRecord]>(await tenant.api.get(IMPORTS));
  const before = await metrics();
  await tenant.api.post(`${IMPORTS}/${id}/cancel`, {});
  await tenant.api.post(`${IMPORTS}/${id}/cancel`, {});
  expect(await growth(before)).toEqual({ 'latitude_imports_ended_total{status="cancelled"}': 1 });
  expect(linesAbout(id)).toMatchObject([
    { msg: 'an import has ended', status: 'cancelled', seconds: null },
  ]);
});

it('a file that is refused is no import', async () => {
  const before = await metrics();
  const refused = await sendFile(tenant.api, 'first_name,Ada Canary\nBo,1');
  expect(refused.status).toBe(400);
  await until(() => Promise.resolve(log.some((line) => line.includes('"status":400'))));
  expect(await growth(before)).toEqual({});
  expect(log.join('')).not.toContain('Canary');
});
