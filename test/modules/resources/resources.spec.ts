import { randomUUID } from 'node:crypto';
import { dataOf, expectError, expectInvalid } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';

const RESOURCES = '/api/v1/resources';
const NINE_TO_FIVE = { start: '09:00', end: '17:00' };

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});

const create = async (fields: object = {}) =>
  dataOf<Record<string, unknown> & { id: string }>(
    await tenant.api.post(RESOURCES, { name: 'Crew 1', ...fields }),
    201,
  );

it('a resource has every field, with its defaults', async () => {
  const { id, created_at, ...fields } = await create();
  expect(fields).toEqual({
    organization_id: tenant.id,
    name: 'Crew 1',
    user_id: null,
    time_zone: 'UTC',
    hours: null,
    exceptions: [],
    buffer_before_minutes: 0,
    buffer_after_minutes: 0,
    remind_before_minutes: null,
    active: true,
    updated_at: created_at,
  });
  const given = {
    user_id: randomUUID(),
    time_zone: 'Asia/Kolkata',
    hours: {
      monday: [
        { start: '08:00', end: '12:00' },
        { start: '12:00', end: '24:00' },
      ],
      tuesday: [{ start: '22:00', end: '06:00' }],
      wednesday: [{ start: '06:00', end: '00:00' }],
    },
    exceptions: [
      { date: '2028-02-29', hours: [NINE_TO_FIVE] },
      { date: '2026-12-25', hours: [] },
    ],
    buffer_before_minutes: 15,
    buffer_after_minutes: 1440,
    remind_before_minutes: [1440, 60],
    active: false,
  };
  const changed = await tenant.api.put(`${RESOURCES}/${id}`, given);
  expect(dataOf(changed)).toMatchObject(given);
  expect(dataOf(await tenant.api.get(`${RESOURCES}/${id}`))).toMatchObject(given);
  const cleared = await tenant.api.put(`${RESOURCES}/${id}`, { hours: null, exceptions: [] });
  expect(dataOf(cleared)).toMatchObject({ hours: null, exceptions: [], time_zone: 'Asia/Kolkata' });
});

it('is read with appointments:read and written with resources:write', async () => {
  const { id } = await create();
  const reader = await app.key(tenant.id, ['appointments:read']);
  const writer = await app.key(tenant.id, ['resources:write', 'appointments:write']);
  dataOf(await reader.api.get(`${RESOURCES}/${id}`));
  expectError(await reader.api.post(RESOURCES, { name: 'Room' }), 403, 'insufficient_scope');
  dataOf(await writer.api.put(`${RESOURCES}/${id}`, { name: 'Room' }));
  expectError(await writer.api.get(`${RESOURCES}/${id}`), 403, 'insufficient_scope');
});

it('is not found after its deletion', async () => {
  const { id } = await create();
  expect(dataOf(await tenant.api.delete(`${RESOURCES}/${id}`))).toEqual({ id, deleted: true });
  expectError(await tenant.api.get(`${RESOURCES}/${id}`), 404, 'not_found');
  expectError(await tenant.api.put(`${RESOURCES}/${id}`, { name: 'Back' }), 404, 'not_found');
  expectError(await tenant.api.delete(`${RESOURCES}/${id}`), 404, 'not_found');
});

it('lists filter by team member and by active', async () => {
  const user_id = randomUUID();
  const [first, second] = [await create({ user_id }), await create({ user_id, active: false })];
  const ids = async (query: string) =>
    dataOf<{ id: string }[]>(await tenant.api.get(`${RESOURCES}?user_id=${user_id}${query}`)).map(
      ({ id }) => id,
    );
  expect(await ids('&sort_dir=asc')).toEqual([first.id, second.id]);
  expect(await ids('&active=true')).toEqual([first.id]);
  expect(await ids('&active=false&after=&sort_dir=asc')).toEqual([second.id]);
});

it.each<[problem: string, fields: object, paths: string[]]>([
  ['an unknown zone', { time_zone: 'Mars/Base' }, ['time_zone']],
  ['a buffer beyond a day', { buffer_after_minutes: 1441 }, ['buffer_after_minutes']],
  ['hours that are no object', { hours: [NINE_TO_FIVE] }, ['hours']],
  ['an unknown day', { hours: { Monday: [NINE_TO_FIVE] } }, ['hours.Monday']],
  ['a day that is no array', { hours: { monday: NINE_TO_FIVE } }, ['hours.monday']],
  ['too many intervals', { hours: { monday: Array(25).fill(NINE_TO_FIVE) } }, ['hours.monday']],
  ['an interval that is no object', { hours: { friday: ['09:00'] } }, ['hours.friday[0]']],
  [
    'wrong members',
    { hours: { friday: [NINE_TO_FIVE, { start: '18:00', until: '19:00' }] } },
    ['hours.friday[1].end', 'hours.friday[1].until'],
  ],
  [
    'wrong times',
    { hours: { friday: [{ start: '24:00', end: '9:00' }] } },
    ['hours.friday[0].start', 'hours.friday[0].end'],
  ],
  [
    'a time that is a number',
    { hours: { friday: [{ start: 900, end: '10:00' }] } },
    ['hours.friday[0].start'],
  ],
  [
    'equal times',
    { hours: { friday: [{ start: '09:00', end: '09:00' }] } },
    ['hours.friday[0].end'],
  ],
  [
    'intervals that overlap',
    {
      hours: {
        friday: [
          { start: '12:00', end: '13:00' },
          { start: '09:00', end: '12:01' },
        ],
      },
    },
    ['hours.friday[0].start'],
  ],
  [
    'a night that overlaps the next day',
    {
      hours: {
        saturday: [{ start: '05:00', end: '06:00' }],
        friday: [{ start: '22:00', end: '05:01' }],
      },
    },
    ['hours.saturday[0].start'],
  ],
  [
    'a night of Saturday that overlaps Sunday',
    {
      hours: {
        saturday: [{ start: '22:00', end: '05:01' }],
        sunday: [{ start: '05:00', end: '06:00' }],
      },
    },
    ['hours.sunday[0].start'],
  ],
  ['exceptions that are no array', { exceptions: {} }, ['exceptions']],
  ['an exception without a date', { exceptions: [{ hours: [] }] }, ['exceptions[0].date']],
  ['an exception without hours', { exceptions: [{ date: '2026-12-24' }] }, ['exceptions[0].hours']],
  [
    'a date that does not exist',
    { exceptions: [{ date: '2026-02-29', hours: [] }] },
    ['exceptions[0].date'],
  ],
  [
    'a repeated date',
    {
      exceptions: [
        { date: '2026-12-24', hours: [] },
        { date: '2026-12-24', hours: [NINE_TO_FIVE] },
      ],
    },
    ['exceptions[1].date'],
  ],
  [
    'an exception whose intervals overlap',
    {
      exceptions: [{ date: '2026-12-24', hours: [NINE_TO_FIVE, { start: '16:00', end: '18:00' }] }],
    },
    ['exceptions[0].hours[1].start'],
  ],
  ['exceptions that are null on an update', { exceptions: null }, ['exceptions']],
])('refuses %s and names the path', async (_, fields, paths) => {
  const { id } = await create();
  const answer = await tenant.api.put(`${RESOURCES}/${id}`, fields);
  expectInvalid(answer, ...paths);
});

it('batches create, update and delete resources', async () => {
  const { id } = await create();
  const answer = await tenant.api.post(`${RESOURCES}/batch`, {
    items: [
      { action: 'create', data: { name: 'Room 1' } },
      {
        action: 'create',
        data: { name: 'Room 2', hours: { monday: [{ start: '9', end: '10:00' }] } },
      },
      { action: 'update', id, data: { active: false } },
      { action: 'delete', id: (await create()).id },
    ],
  });
  expect(answer.status).toBe(207);
  expect(answer.body.data).toMatchObject([
    { status: 'created' },
    { status: 'failed', error: { details: [{ field: 'data.hours.monday[0].start' }] } },
    { status: 'updated' },
    { status: 'deleted' },
  ]);
});
