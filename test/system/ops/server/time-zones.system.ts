import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { DataSource } from 'typeorm';
import { ApiClient } from '../../../../src/testing/api-client.js';
import { createLead, dataOf } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';

/** Time zones whose historical offsets have seconds. */
const ZONES = [
  'America/New_York',
  'America/Caracas',
  'Africa/Monrovia',
  'Asia/Kolkata',
  'Asia/Tokyo',
  'Europe/Berlin',
  'Pacific/Apia',
];

const DAYS = ['0001-01-01', '0099-12-31', '1850-01-01', '1883-11-18', '1964-12-31', '9999-12-31'];

describe('a server in any time zone', () => {
  let main: TestApp;
  let server: ChildProcess;
  let port: number;

  beforeAll(async () => {
    main = await TestApp.start();
    const script = path.join(__dirname, '../../../support/servers/server-in-time-zone.mjs');
    server = fork(script, [JSON.stringify(main.database)], { execArgv: [] });
    [port] = (await once(server, 'message')) as [number];
  });
  afterAll(async () => {
    server.disconnect();
    await once(server, 'exit');
    await main.stop();
  });

  async function callerIn(zone: string): Promise<ApiClient> {
    const organization = await main.organization();
    server.send(zone);
    await once(server, 'message');
    return new ApiClient(`http://127.0.0.1:${port}`, organization.key.key);
  }

  it.each(ZONES)('stores, returns and filters times to the millisecond in %s', async (zone) => {
    const api = await callerIn(zone);
    const { id: lead_id } = await createLead(api);
    for (const day of DAYS) {
      const [start, end] = [`${day}T00:00:00.000Z`, `${day}T23:59:59.999Z`];
      const body = { lead_id, start_time: start, end_time: end };
      const appointment = await api.post('/api/v1/appointments', body);
      expect(dataOf<object>(appointment, 201)).toMatchObject({ start_time: start, end_time: end });
      const task = await api.post('/api/v1/tasks', { title: day, due_date: day });
      expect(dataOf<object>(task, 201)).toMatchObject({ due_date: start });
      const { id } = dataOf<{ id: string }>(task, 201);
      const moved = await api.put(`/api/v1/tasks/${id}`, { due_date: end });
      expect(dataOf<object>(moved)).toMatchObject({ due_date: end });

      const window = `start_after=${start}&start_before=${day}T00:00:00.001Z`;
      expect(dataOf(await api.get(`/api/v1/appointments?${window}`))).toMatchObject([
        { start_time: start },
      ]);
      const before = dataOf<{ title: string }[]>(await api.get(`/api/v1/tasks?due_before=${end}`));
      expect(before.map(({ title }) => title)).not.toContain(day);
    }
  });

  it.each(ZONES)('filters leads by created_at in %s', async (zone) => {
    const api = await callerIn(zone);
    for (const day of DAYS) {
      const { id } = await createLead(api, { first_name: day });
      await main.sql('update leads set created_at = $2 where id = $1', [id, `${day}T00:00:00Z`]);
    }
    for (const [n, day] of DAYS.entries()) {
      const found = await api.get(`/api/v1/leads?created_before=${day}&sort_dir=asc`);
      const names = dataOf<{ first_name: string }[]>(found).map(({ first_name }) => first_name);
      expect(names).toEqual(DAYS.slice(0, n));
    }
  });

  it('sends and reads times in UTC in every statement of the data source', async () => {
    const dataSource = main.app.get(DataSource);
    const times = ['-000001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'];
    times.push('2026-07-01T03:04:05.678Z', '+010000-01-01T00:00:00.000Z');
    for (const time of times.map((text) => new Date(text))) {
      const rows: unknown = await dataSource.query(
        `select $1::timestamptz as instant, $1::timestamp as local, $2::timestamp[] as locals,
          $1::date::text = $1::text::date::text as same_day`,
        [time, [time, null]],
      );
      const expected = { instant: time, local: time, locals: [time, null], same_day: true };
      expect(rows).toEqual([expected]);
    }
    const [row] = await dataSource.query<object[]>(
      `select 'infinity'::timestamp as never, date '2026-07-01' as day,
        abs(extract(epoch from localtimestamp) - extract(epoch from now())) < 1 as is_utc`,
    );
    expect(row).toEqual({ never: Infinity, day: '2026-07-01', is_utc: true });
  });
});
