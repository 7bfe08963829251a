import type { ApiClient } from '../../../../src/testing/api-client.js';
import { createLead, dataOf } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { COUNT_OVERLAPS } from '../../../support/random-bookings.js';

const CALLERS = 200;
const SLOTS = 20;
const HOUR = 3_600_000;
const START = Date.UTC(2040, 0, 2);

interface Refusal {
  error: { code: string; details: [{ free: { start_time: string; end_time: string }[] }] };
}

let one: TestApp;
let two: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  one = await TestApp.start();
  two = await TestApp.start({ database: one.database });
  tenant = await one.organization();
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

it('of 200 callers of two instances who want 20 times at once, 20 get one', async () => {
  const api = [tenant.api, two.client(tenant.key.key)] as const;
  const day = [{ start: '00:00', end: '24:00' }];
  const body = { name: 'Crew', hours: { monday: day, tuesday: day } };
  const resource = dataOf<{ id: string }>(await tenant.api.post('/api/v1/resources', body), 201);
  const lead_id = (await createLead(tenant.api)).id;
  const booked: [start: number, end: number][] = [];

  const book = async (client: ApiClient, hour: number): Promise<string> => {
    const start = START + hour * HOUR;
    const time = { start_time: new Date(start), end_time: new Date(start + HOUR) };
    const before = [...booked];
    const created = { lead_id, resource_id: resource.id, ...time };
    const answer = await client.post('/api/v1/appointments', created);
    if (answer.status === 201) {
      booked.push([start, start + HOUR]);
      return 'booked';
    }
    const { code, details } = (answer.body as unknown as Refusal).error;
    // Of a machine that is busy for longer than a request may take.
    if (code === 'overloaded') return book(client, hour);
    const proposed = details[0].free.map(({ start_time, end_time }) => {
      return [Date.parse(start_time), Date.parse(end_time)] as const;
    });
    expect(proposed).toHaveLength(3);
    // What had been booked before the request is not proposed.
    for (const [from, to] of proposed) {
      expect(before.filter(([start, end]) => start < to && end > from)).toEqual([]);
    }
    return code;
  };

  const outcomes = await Promise.all(
    Array.from({ length: CALLERS }, (_, n) => book(api[n % 2]!, n % SLOTS)),
  );
  const count = (outcome: string) => outcomes.filter((each) => each === outcome).length;
  expect([count('booked'), count('slot_taken')]).toEqual([SLOTS, CALLERS - SLOTS]);
  expect(await one.sql(COUNT_OVERLAPS)).toEqual([{ overlaps: 0 }]);
});
