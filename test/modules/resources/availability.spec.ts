import { createLead, dataOf, expectError, expectInvalid } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

interface Slot {
  start_time: string;
  end_time: string;
  local_start: string;
}
interface Free {
  resource_id: string;
  time_zone: string;
  slots: Slot[];
}

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});

const resource = async (fields: object) =>
  dataOf<{ id: string }>(
    await tenant.api.post('/api/v1/resources', { name: 'Crew', ...fields }),
    201,
  ).id;
const ask = (parameters: Record<string, string | number>) =>
  tenant.api.get(
    `/api/v1/availability?${new URLSearchParams(
      Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString()}`,
  );
const free = async (parameters: Record<string, string | number>) =>
  dataOf<Free[]>(await ask({ duration_minutes: 60, ...parameters }));
const starts = ({ slots }: Free) => slots.map(({ start_time }) => start_time.slice(0, 16));

// The 3rd of January 2040 is a Tuesday.
const TUESDAY = { from: '2040-01-03T00:00:00Z', to: '2040-01-04T00:00:00Z' };
const MORNING = { tuesday: [{ start: '09:00', end: '12:00' }] };

it('answers the free times of each resource in UTC and with the offset of its zone', async () => {
  const berlin = await resource({ time_zone: 'Europe/Berlin', hours: MORNING });
  const kolkata = await resource({ time_zone: 'Asia/Kolkata', hours: MORNING });
  const answer = await free({ resource_id: `${kolkata},${berlin}`, step_minutes: 90, ...TUESDAY });
  expect(answer).toEqual([
    {
      resource_id: kolkata,
      time_zone: 'Asia/Kolkata',
      slots: [
        {
          start_time: '2040-01-03T03:30:00.000Z',
          end_time: '2040-01-03T04:30:00.000Z',
          local_start: '2040-01-03T09:00:00.000+05:30',
        },
        {
          start_time: '2040-01-03T05:00:00.000Z',
          end_time: '2040-01-03T06:00:00.000Z',
          local_start: '2040-01-03T10:30:00.000+05:30',
        },
      ],
    },
    {
      resource_id: berlin,
      time_zone: 'Europe/Berlin',
      slots: [
        {
          start_time: '2040-01-03T08:00:00.000Z',
          end_time: '2040-01-03T09:00:00.000Z',
          local_start: '2040-01-03T09:00:00.000+01:00',
        },
        {
          start_time: '2040-01-03T09:30:00.000Z',
          end_time: '2040-01-03T10:30:00.000Z',
          local_start: '2040-01-03T10:30:00.000+01:00',
        },
      ],
    },
  ]);
});

it('leaves out what appointments and holds take, with the buffers', async () => {
  const resource_id = await resource({ hours: MORNING, buffer_after_minutes: 30 });
  const all = [
    '2040-01-03T09:00',
    '2040-01-03T09:30',
    '2040-01-03T10:00',
    '2040-01-03T10:30',
    '2040-01-03T11:00',
  ];
  expect(starts((await free({ resource_id, ...TUESDAY }))[0]!)).toEqual(all);
  const lead_id = (await createLead(tenant.api)).id;
  const time = {
    resource_id,
    start_time: '2040-01-03T11:00:00Z',
    end_time: '2040-01-03T11:30:00Z',
  };
  const { id } = dataOf<{ id: string }>(
    await tenant.api.post('/api/v1/appointments', { lead_id, ...time }),
    201,
  );
  expect(starts((await free({ resource_id, ...TUESDAY }))[0]!)).toEqual(all.slice(0, 2));
  dataOf(await tenant.api.delete(`/api/v1/appointments/${id}`));
  expect(starts((await free({ resource_id, ...TUESDAY }))[0]!)).toEqual(all);
  dataOf(await tenant.api.post('/api/v1/holds', { ...time, seconds: 900 }), 201);
  expect(starts((await free({ resource_id, ...TUESDAY }))[0]!)).toEqual(all.slice(0, 2));
  const window = { from: '2040-01-03T09:10:00Z', to: '2040-01-03T10:30:00Z' };
  expect(starts((await free({ resource_id, ...window }))[0]!)).toEqual(['2040-01-03T09:30']);
});

it('follows a change of clocks, nights and exceptions', async () => {
  const night = [{ start: '22:00', end: '04:00' }];
  const resource_id = await resource({
    time_zone: 'Europe/Berlin',
    hours: { saturday: night, sunday: night },
    exceptions: [{ date: '2040-03-25', hours: [] }],
  });
  // Clocks are set forward on the 25th, a Sunday: the night has five hours.
  const window = { from: '2040-03-24T12:00:00Z', to: '2040-03-26T12:00:00Z' };
  const [answer] = await free({ resource_id, step_minutes: 60, ...window });
  expect(
    answer!.slots.map(({ local_start }) => local_start.slice(8, 29).replace(':00.000', '')),
  ).toEqual([
    '24T22:00+01:00',
    '24T23:00+01:00',
    '25T00:00+01:00',
    '25T01:00+01:00',
    '25T03:00+02:00',
  ]);
});

it('has nothing in the past, without hours, and of inactive resources', async () => {
  const hours = { tuesday: [{ start: '00:00', end: '24:00' }] };
  const ids = [
    await resource({ hours }),
    await resource({}),
    await resource({ hours, active: false }),
  ];
  const past = { from: '2020-01-01T00:00:00Z', to: '2020-02-01T00:00:00Z' };
  expect((await free({ resource_id: ids[0]!, ...past }))[0]!.slots).toEqual([]);
  const answer = await free({ resource_id: ids.join(), ...TUESDAY });
  expect(answer.map(({ slots }) => slots.length)).toEqual([47, 0, 0]);
});

it('refuses wrong parameters and unknown resources', async () => {
  const resource_id = await resource({ hours: MORNING });
  const good = { resource_id, ...TUESDAY, duration_minutes: 60 };
  expectInvalid(
    await tenant.api.get('/api/v1/availability'),
    'resource_id',
    'from',
    'to',
    'duration_minutes',
  );
  expectInvalid(await ask({ ...good, resource_id: 'x' }), 'resource_id');
  expectInvalid(await ask({ ...good, step_minutes: 4 }), 'step_minutes');
  expectInvalid(await ask({ ...good, duration_minutes: 1441 }), 'duration_minutes');
  expectInvalid(await ask({ ...good, to: good.from }), 'to');
  expectInvalid(await ask({ ...good, to: '2040-03-05T00:00:01Z' }), 'to');
  dataOf(await ask({ ...good, to: '2040-03-05T00:00:00Z' }));
  expectError(await ask({ ...good, resource_id: `${resource_id},${UNKNOWN}` }), 404, 'not_found');
  const stranger = await app.organization();
  const path = `/api/v1/availability?${new URLSearchParams({ ...good, duration_minutes: '60' }).toString()}`;
  expectError(await stranger.api.get(path), 404, 'not_found');
});

it('refuses a request for too many free times', async () => {
  const day = [{ start: '00:00', end: '24:00' }];
  const hours = { monday: day, tuesday: day, wednesday: day, thursday: day, friday: day };
  const ids = [await resource({ hours }), await resource({ hours })];
  const window = { from: '2040-01-01T00:00:00Z', to: '2040-03-03T00:00:00Z' };
  const long = { resource_id: ids.join(), step_minutes: 5, duration_minutes: 5, ...window };
  expectInvalid(await ask(long), 'to');
});
