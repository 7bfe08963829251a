import type { ApiClient } from '../../../../src/testing/api-client.js';
import { createLead, dataOf } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { COUNT_OVERLAPS } from '../../../support/random-bookings.js';

const CALLERS = 200;
const HOUR = 3_600_000;
const START = Date.UTC(2040, 0, 2);

/** Counts the rows that are inserted, those of transactions that are rolled back as well. */
const COUNT_ATTEMPTS = `
  create sequence attempts;
  create function count_attempt() returns trigger language plpgsql security definer as
    $$ begin perform nextval('attempts'); return new; end $$;
  create trigger a_count_attempt before insert on busy_times for each row execute function count_attempt()`;

interface Refusal {
  error: { code: string; details: [{ free: { start_time: string; end_time: string }[] }] };
}

let one: TestApp;
let two: TestApp;
let tenant: Tenant;
let clients: readonly [ApiClient, ApiClient];

beforeAll(async () => {
  one = await TestApp.start();
  two = await TestApp.start({ database: one.database });
  await one.sql(COUNT_ATTEMPTS);
});
beforeEach(async () => {
  tenant = await one.organization();
  clients = [tenant.api, two.client(tenant.key.key)];
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

// A key can have 20 holds.
it.each([
  ['appointments', 20, ''],
  ['appointments', 20, ' with an Idempotency-Key each'],
  ['holds', 19, ''],
  ['holds', 19, ' with an Idempotency-Key each'],
])(
  'of 200 callers of two instances who want %s of %i times at once%s, one gets each time, and most others try no write',
  async (route, slots, keys) => {
    const day = [{ start: '00:00', end: '24:00' }];
    const body = { name: 'Crew', hours: { monday: day, tuesday: day } };
    const resource = dataOf<{ id: string }>(await tenant.api.post('/api/v1/resources', body), 201);
    const own =
      route === 'holds' ? { seconds: 900 } : { lead_id: (await createLead(tenant.api)).id };
    const booked: [start: number, end: number][] = [];

    const take = async (n: number): Promise<string> => {
      const start = START + (n % slots) * HOUR;
      const time = { start_time: new Date(start), end_time: new Date(start + HOUR) };
      const before = [...booked];
      const options = keys ? { headers: { 'Idempotency-Key': `${route}-${n}` } } : {};
      const wanted = { ...own, resource_id: resource.id, ...time };
      const answer = await clients[n % 2]!.post(`/api/v1/${route}`, wanted, options);
      if (answer.status === 201) {
        booked.push([start, start + HOUR]);
        return 'taken';
      }
      const { code, details } = (answer.body as unknown as Refusal).error;
      // Of a machine that is busy for longer than a request may take.
      if (code === 'overloaded') return take(n);
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

    await one.sql(`select setval('attempts', 1)`);
    const outcomes = await Promise.all(Array.from({ length: CALLERS }, (_, n) => take(n)));
    const count = (outcome: string) => outcomes.filter((each) => each === outcome).length;
    expect([count('taken'), count('slot_taken')]).toEqual([slots, CALLERS - slots]);
    expect(await one.sql(COUNT_OVERLAPS)).toEqual([{ overlaps: 0 }]);
    // Each instance finds out by an attempt of its own at most once for each time.
    const [{ attempts }] = (await one.sql(
      `select last_value::int - 1 as attempts from attempts`,
    )) as [{ attempts: number }];
    expect(attempts).toBeLessThan(CALLERS / 2);
  },
);
