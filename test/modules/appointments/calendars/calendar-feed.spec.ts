import { randomBytes } from 'node:crypto';
import type { Answer, ApiClient } from '../../../../src/testing/api-client.js';
import { createLead, dataOf, expectError } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { captureLog } from '../../../support/captured-log.js';

const RESOURCES = '/api/v1/resources';
const APPOINTMENTS = '/api/v1/appointments';
const DAY_MS = 86_400_000;
const READS_PER_MINUTE = 60;

interface Feed {
  readonly id: string;
  /** The path of the address. */
  readonly path: string;
  readonly secret: string;
}

interface Booked {
  readonly id: string;
  readonly start_time: string;
}

let app: TestApp;
let tenant: Tenant;
let reader: ApiClient;
let lead: string;
let addresses = 0;

beforeAll(async () => {
  const settings = { readsPerMinute: READS_PER_MINUTE, trustProxy: 1 };
  app = await TestApp.start({ settings });
  reader = app.client();
});
beforeEach(async () => {
  tenant = await app.organization();
  lead = (await createLead(tenant.api, { first_name: 'Grace', last_name: 'Hopper' })).id;
});
afterAll(() => app.stop());

const logged = captureLog('trace');

async function createResource(name = 'Crew 1'): Promise<string> {
  return dataOf<{ id: string }>(await tenant.api.post(RESOURCES, { name }), 201).id;
}

async function createFeed(resource: string, body: object = {}): Promise<Feed> {
  const answer = await tenant.api.post(`${RESOURCES}/${resource}/calendar`, body);
  const { id, url } = dataOf<{ id: string; url: string }>(answer, 201);
  const path = new URL(url).pathname;
  return { id, path, secret: path.slice('/calendars/'.length, -'.ics'.length) };
}

async function book(resource: string, fields: object = {}, inDays = 1): Promise<Booked> {
  const start = Date.now() + inDays * DAY_MS;
  const body = {
    lead_id: lead,
    resource_id: resource,
    start_time: new Date(start).toISOString(),
    end_time: new Date(start + 3_600_000).toISOString(),
    type: 'Estimate',
    location: '12 Pier Street',
    ...fields,
  };
  return dataOf<Booked>(await tenant.api.post(APPOINTMENTS, body), 201);
}

const change = async (id: string, changes: object) =>
  dataOf<Booked>(await tenant.api.put(`${APPOINTMENTS}/${id}`, changes));

/** Reads an address from another client each time. */
const read = ({ path }: Pick<Feed, 'path'>, headers = {}, method = 'GET') =>
  reader.request(method, path, {
    headers: { 'X-Forwarded-For': `198.51.100.${++addresses}`, ...headers },
  });

/** The events of a calendar, by their ids. */
function eventsOf({ status, body }: Answer): Map<string, Record<string, string>> {
  expect(status).toBe(200);
  const text = (body as string).replaceAll('\r\n ', '');
  const events = text.split('BEGIN:VEVENT\r\n').slice(1);
  const properties = events.map((event) => {
    const [own = ''] = event.split('\r\nEND:VEVENT');
    const lines = own.split('\r\n').map((line) => line.split(/:(.*)/s) as [string, string]);
    return Object.fromEntries<string>(lines.map(([name, value]) => [name, value]));
  });
  return new Map(properties.map((event) => [event.UID ?? '', event]));
}

const inUtc = (time: string | number) => new Date(time).toISOString().replaceAll(/[-:]|\.\d+/g, '');

it('an address is a calendar with the appointments of the resource', async () => {
  const resource = await createResource('Crew 1, north');
  const feed = await createFeed(resource);
  const { id, start_time } = await book(resource);
  await book(await createResource(), {}, 2);
  const answer = await read(feed);
  expect(answer.headers.get('content-type')).toBe('text/calendar; charset=utf-8');
  expect(answer.headers.get('cache-control')).toBe('private, no-cache');
  expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  expect(answer.body).toMatch('\r\nX-WR-CALNAME:Crew 1\\, north\r\n');
  const events = eventsOf(answer);
  expect([...events.keys()]).toEqual([id]);
  const event = events.get(id)!;
  expect(event).toMatchObject({ SUMMARY: 'Estimate', STATUS: 'TENTATIVE', SEQUENCE: '0' });
  expect(event).toMatchObject({ DTSTART: inUtc(Math.floor(Date.parse(start_time) / 1000) * 1000) });
  expect(answer.body).not.toMatch(/Hopper|Pier/);
});

it('details are the location and the name of the lead, unless the lead was deleted', async () => {
  const resource = await createResource();
  const feed = await createFeed(resource, { details: true });
  const { id } = await book(resource);
  expect(eventsOf(await read(feed)).get(id)).toMatchObject({
    SUMMARY: 'Estimate – Grace Hopper',
    LOCATION: '12 Pier Street',
  });
  dataOf(await tenant.api.put(`/api/v1/leads/${lead}`, { last_name: 'Murray' }));
  expect(eventsOf(await read(feed)).get(id)?.SUMMARY).toBe('Estimate – Grace Murray');
  dataOf(await tenant.api.delete(`/api/v1/leads/${lead}`));
  const { body } = await read(feed);
  expect(body).not.toMatch(/Murray/);
});

it('each change raises the sequence, and the id stays', async () => {
  const resource = await createResource();
  const feed = await createFeed(resource);
  const { id } = await book(resource);
  const sequences = [];
  const statuses = [];
  const changes = [{ status: 'confirmed' }, { type: 'Inspection' }, { status: 'cancelled' }];
  for (const changed of [{}, ...changes, { status: 'scheduled' }]) {
    if (Object.keys(changed).length > 0) await change(id, changed);
    const event = eventsOf(await read(feed)).get(id)!;
    sequences.push(Number(event.SEQUENCE));
    statuses.push(event.STATUS);
  }
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
  expect(statuses).toEqual(['TENTATIVE', 'CONFIRMED', 'CONFIRMED', 'CANCELLED', 'TENTATIVE']);
  const before = sequences.at(-1);
  await change(id, { type: 'Inspection' });
  expect(Number(eventsOf(await read(feed)).get(id)?.SEQUENCE)).toBe(before);
});

it('it has 90 days back and all ahead, and cancelled appointments for 30 days', async () => {
  const resource = await createResource();
  const feed = await createFeed(resource);
  const [old, recent, far] = [
    await book(resource, {}, -90.01),
    await book(resource, {}, -89.9),
    await book(resource, {}, 3_000),
  ];
  const gone = await book(resource, { status: 'cancelled' });
  const kept = await book(resource, { status: 'no_show' });
  await app.sql(
    `update appointments set updated_at = now() - case id when $1 then interval '30.1 days' else interval '29.9 days' end
     where id in ($1, $2)`,
    [gone.id, kept.id],
  );
  const events = eventsOf(await read(feed));
  expect([...events.keys()]).toEqual([recent.id, kept.id, far.id]);
  expect(events.has(old.id)).toBe(false);
  expect(events.get(kept.id)).toMatchObject({ STATUS: 'CANCELLED', TRANSP: 'TRANSPARENT' });
});

it('an appointment that gets another resource leaves the calendar', async () => {
  const resource = await createResource();
  const feed = await createFeed(resource);
  const { id } = await book(resource);
  const { headers } = await read(feed);
  await change(id, { resource_id: await createResource() });
  const answer = await read(feed, { 'If-None-Match': headers.get('etag')! });
  expect(eventsOf(answer).size).toBe(0);
});

it('an unchanged calendar is 304, and HEAD has no body', async () => {
  const resource = await createResource();
  const feed = await createFeed(resource);
  const { id } = await book(resource);
  const first = await read(feed);
  const etag = first.headers.get('etag')!;
  expect(etag).toMatch(/^"[\da-f]{64}"$/);
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const same = await read(feed, { 'If-None-Match': known });
    expect(same).toMatchObject({ status: 304, body: '' });
    expect(same.headers.get('etag')).toBe(etag);
  }
  const head = await read(feed, {}, 'HEAD');
  expect(head).toMatchObject({ status: 200, body: undefined });
  for (const name of ['etag', 'content-type', 'content-length']) {
    expect(head.headers.get(name)).toBe(first.headers.get(name));
  }
  await change(id, { status: 'confirmed' });
  const changed = await read(feed, { 'If-None-Match': etag });
  expect(eventsOf(changed).get(id)?.STATUS).toBe('CONFIRMED');
  expect(changed.headers.get('etag')).not.toBe(etag);
});

it('an address without a calendar is 404 in one form', async () => {
  const resource = await createResource();
  const [revoked, ofDeleted] = [await createFeed(resource), await createFeed(resource)];
  expect((await read(revoked)).status).toBe(200);
  dataOf(await tenant.api.delete(`${RESOURCES}/${resource}/calendars/${revoked.id}`));
  const answers = [await read(revoked)];
  dataOf(await tenant.api.delete(`${RESOURCES}/${resource}`));
  answers.push(await read(ofDeleted));
  const ofSuspended = await createFeed(await createResource());
  await app.sql('update organizations set suspended = true where id = $1', [tenant.id]);
  answers.push(await read(ofSuspended));
  const guess = randomBytes(24).toString('base64url');
  for (const secret of [guess, ofSuspended.secret.toUpperCase(), '%00', '%ff', 'a'.repeat(5_000)]) {
    answers.push(await read({ path: `/calendars/${secret}.ics` }));
  }
  const shapes = answers.map(({ status, body, headers }) => {
    const { request_id: _, ...error } = (body as { error: { request_id: string } }).error;
    const names = [...headers.keys()].sort();
    return JSON.stringify({ status, error, names });
  });
  expect(new Set(shapes).size).toBe(1);
  expectError(answers[0]!, 404, 'not_found');
});

it('requests are limited by address, whether the calendar exists or not', async () => {
  const feed = await createFeed(await createResource());
  const from = { 'X-Forwarded-For': '203.0.113.1' };
  for (let i = 0; i < READS_PER_MINUTE; i += 2) {
    expect((await read(feed, from)).status).toBe(200);
    expect((await read({ path: `/calendars/${i}.ics` }, from)).status).toBe(404);
  }
  const refused = await read(feed, from);
  expectError(refused, 429, 'rate_limit_exceeded');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await read(feed)).status).toBe(200);
});

it('a calendar with more appointments than it may have is 422, and not a part of them', async () => {
  const resource = await createResource();
  const feed = await createFeed(resource);
  await book(resource);
  await app.sql(
    `insert into appointments (organization_id, id, lead_id, resource_id, start_time, end_time, status, booked_by)
     select $1, gen_random_uuid(), $2, $3, now() + i * interval '1 hour', now() + (i + 1) * interval '1 hour', 'cancelled', 'api'
     from generate_series(1, 9999) i`,
    [tenant.id, lead, resource],
  );
  expect(eventsOf(await read(feed)).size).toBe(10_000);
  await book(resource, {}, 2);
  expectError(await read(feed), 422, 'calendar_too_large');
});

it('no log line, metric or error contains the address', async () => {
  const feed = await createFeed(await createResource());
  const { headers } = await read(feed);
  const answers = [
    await read(feed, { 'If-None-Match': headers.get('etag')! }),
    await read({ path: `${feed.path}?x=1` }),
    await read({ path: feed.path.replace('.ics', '') }),
    await read({ path: `${feed.path}/` }),
    await read(feed, {}, 'POST'),
  ];
  await app.sql('alter table calendars rename to lost');
  answers.push(await read(feed));
  await app.sql('alter table lost rename to calendars');
  expect(answers.map(({ status }) => status)).toEqual([304, 200, 404, 404, 404, 500]);
  const metrics = await (await fetch(`${app.url}/metrics`)).text();
  const log = logged.join('');
  expect(log).toMatch('"route":"/calendars/:secret.ics"');
  expect(log).toMatch('a database statement failed');
  expect(
    `${log}${metrics}${JSON.stringify(answers.map(({ body }) => body as unknown))}`,
  ).not.toMatch(feed.secret);
});
