import { rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { ApiClient } from '../../../../src/testing/api-client.js';
import { CanaryValues, findLeaks, type Properties } from '../../../../src/testing/canary-values.js';
import { dataOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { temporaryFile } from '../../../support/database/backups.js';
import { latitude, runCommand } from '../../../support/command-line.js';
import { Product, type RunningServer, UNLIMITED, until } from '../../../support/servers/product.js';
import { WebhookReceiver } from '../../../support/servers/webhook-receiver.js';
import type { DeliveryRecord } from '../../../support/webhooks.js';

const SCOPES = [
  ...['leads', 'appointments', 'tasks', 'webhooks'].flatMap((name) => [
    `${name}:read`,
    `${name}:write`,
  ]),
  ...['events:read', 'leads:erase', 'fields:write'],
].join();

const TIMES = { start_time: '2030-01-01T10:00:00Z', end_time: '2030-01-01T11:00:00Z' };

const source = new Product();
const restored = new Product();
const canaries = new CanaryValues();
const backup = temporaryFile();
const erasures = temporaryFile();
let receiver: WebhookReceiver;
let server: RunningServer;
let organization: string;
let api: ApiClient;
let apiKey: string;
let webhook: string;
let schemas: Record<string, { properties: Properties }>;

interface Row {
  id: string;
}

/** Every value of every column that can hold text, with the name of its table. */
async function storedTexts({ sql }: Pick<Product, 'sql'>): Promise<[string, string][]> {
  const columns = await sql<{ table_name: string; column_name: string }>(
    `select table_name::text, column_name::text from information_schema.columns
     where table_schema = 'public' and (data_type in ('text', 'character varying', 'json', 'jsonb', 'bytea', 'ARRAY', 'USER-DEFINED'))`,
  );
  const texts: [string, string][] = [];
  for (const { table_name: table, column_name: column } of columns) {
    const rows = await sql<{ text: string }>(
      `select "${column}"::text as text from "${table}" where "${column}" is not null`,
    );
    texts.push(...rows.map(({ text }): [string, string] => [`${table}.${column}`, text]));
  }
  return texts;
}

/** The columns that contain a canary value. */
async function leaks(product: Product): Promise<string[]> {
  const texts = await storedTexts({ sql: (text, values) => product.sql(text, values) });
  const found = texts.filter(([, text]) => findLeaks(canaries.secrets, text).length > 0);
  return [...new Set(found.map(([column]) => column))].sort();
}

async function post(path: string, body: object, headers = {}): Promise<Row> {
  return dataOf<Row>(await api.post(`/api/v1/${path}`, body, { headers }), 201);
}

const fill = (schema: string) => canaries.fill(schemas[schema]!.properties);

const key = () => ({ 'Idempotency-Key': randomUUID() });

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  // A receiver that repeats what it got, in an error, so that deliveries stay pending.
  receiver.answer = ({ body }) => ({ status: 500, body });
  server = await source.start({ ...UNLIMITED, WEBHOOKS_ALLOW_PRIVATE_TARGETS: 'on' });
  const [{ id }] = (await source.sql<Row>('select id from organizations')) as [Row];
  organization = id;
  const command = ['keys', 'create', '--organization', id, '--name', 'k', '--scopes', SCOPES];
  const issued = await latitude<{ key: string }>(source.environment, ...command);
  apiKey = issued.key;
  api = new ApiClient(server.url, apiKey);
  const { body } = await api.get('/openapi.json');
  ({ schemas } = (body as { components: { schemas: typeof schemas } }).components);
  await post('custom-fields', { key: 'nickname', type: 'text', unique: true, filterable: true });
  const types = ['lead', 'appointment', 'task'].flatMap((kind) => [
    `${kind}.created`,
    `${kind}.updated`,
  ]);
  const url = receiver.url();
  webhook = (await post('webhooks', { url, types: [...types, 'lead.deleted'] })).id;
});
afterAll(async () => {
  await receiver.stop();
  await Promise.all([source.remove(), restored.remove()]);
  await Promise.all([backup, erasures].map((file) => rm(file, { force: true })));
});

/** Creates a lead with canary values in every field, changes it, and gives it appointments and tasks. */
async function createPerson(): Promise<string> {
  const lead = { ...fill('CreateLead'), status: canaries.text('status') };
  const { id } = await post('leads', lead, key());
  // Those that cannot be given together with `tags` and `notes`.
  const others = { add_tags: undefined, remove_tags: undefined, append_notes: undefined };
  const defined = { custom_fields: { nickname: canaries.text('nickname') } };
  dataOf(await api.put(`${LEADS}/${id}`, { ...fill('UpdateLead'), ...others, ...defined }));
  const appointment = { ...fill('CreateAppointment'), ...TIMES, lead_id: id };
  const booked = await post('appointments', appointment, key());
  dataOf(await api.put(`/api/v1/appointments/${booked.id}`, { notes: canaries.text('notes') }));
  const task = { ...fill('CreateTask'), contact_id: id };
  await post('tasks', task, key());
  const removed = await post('tasks', task);
  dataOf(await api.delete(`/api/v1/tasks/${removed.id}`));
  const batch = { items: [{ action: 'update', id, data: { notes: canaries.text('notes') } }] };
  dataOf<unknown>(await api.post(`${LEADS}/batch`, batch, { headers: key() }));
  return id;
}

describe('an erasure', () => {
  let person: string;
  let merged: string;

  it('leaves no value of the person in any table', async () => {
    person = await createPerson();
    merged = await createPerson();
    const path = `${LEADS}/${person}/merge`;
    dataOf(await api.post(path, { lead_id: merged }, { headers: key() }));
    await until(async () => {
      const url = `/api/v1/webhooks/${webhook}/deliveries?limit=100`;
      const deliveries = dataOf<DeliveryRecord[]>(await api.get(url));
      return (
        deliveries.length === 18 &&
        deliveries.some(({ response_body: body }) => body?.includes('zq'))
      );
    });
    expect(await leaks(source)).toEqual(
      expect.arrayContaining([
        ...['leads.first_name', 'leads.search_text', 'leads.tags', 'leads.custom_fields'],
        ...['appointments.notes', 'tasks.title', 'events.record', 'idempotency_keys.body'],
        ...['webhook_deliveries.body', 'webhook_deliveries.response_body', 'record_counts.value'],
        'custom_field_values.text_value',
      ]),
    );
    await latitude(source.environment, 'backup', backup);
    dataOf(await api.post(`${LEADS}/${merged}/erase`, undefined));
    expect(await leaks(source)).toEqual([]);
  });

  it('lets deliveries that are sent later contain only ids', async () => {
    const before = receiver.received.length;
    receiver.answer = () => ({ status: 200 });
    const resume = { enabled: true };
    dataOf(await api.put(`/api/v1/webhooks/${webhook}`, { enabled: false }));
    dataOf(await api.put(`/api/v1/webhooks/${webhook}`, resume));
    await until(async () => {
      const url = `/api/v1/webhooks/${webhook}/deliveries?status=pending`;
      return dataOf<unknown[]>(await api.get(url)).length === 0;
    });
    const later = receiver.received.slice(before).map(({ body }) => body);
    expect(later.length).toBeGreaterThan(0);
    for (const body of later) {
      const { record } = JSON.parse(body) as { record: object };
      expect(Object.keys(record)).toEqual(['id']);
      expect(findLeaks(canaries.secrets, body)).toEqual([]);
    }
  });

  it('is exported with the ids alone', async () => {
    const result = await latitude(source.environment, 'erasures', 'export', erasures);
    expect(result).toEqual({ file: erasures, leads: 2 });
    const refused = await runCommand(['erasures', 'export', erasures], source.environment);
    expect(refused.stderr).toContain(`${erasures} exists`);
    await latitude(source.environment, 'erasures', 'export', '--force', erasures);
  });

  it('is applied to a restored backup', async () => {
    const restore = ['restore', '--erasures', erasures, backup] as const;
    const result = await latitude(restored.environment, ...restore);
    expect(result).toMatchObject({ erasures: 2, erased: 1, tables: { leads: 2 } });
    const counters = await latitude(restored.environment, 'counters', 'check');
    expect(counters).toMatchObject({ wrong: [] });
    const other = await restored.start();
    const client = new ApiClient(other.url, apiKey);
    for (const id of [person, merged]) {
      expectError(await client.get(`${LEADS}/${id}`), 404, 'not_found');
    }
    expect(await leaks(restored)).toEqual([]);
    const again = await latitude(restored.environment, 'erasures', 'apply', erasures);
    expect(again).toEqual({ erasures: 2, erased: 0 });
    await other.stop();
  });

  it('is not applied from a file that is incomplete, before anything is restored', async () => {
    const product = new Product();
    const lead = JSON.stringify({ organization_id: organization, lead_id: randomUUID() });
    for (const content of [`${lead}\n{}\n`, lead, 'x\n', '[]\n']) {
      await writeFile(erasures, content);
      const restore = ['restore', '--erasures', erasures, backup];
      const { code, stderr } = await runCommand(restore, product.environment);
      expect(code).toBe(1);
      expect(stderr).toContain(erasures);
    }
    await product.remove();
  });
});
