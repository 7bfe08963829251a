import type { Answer, ApiClient } from '../../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  LEADS,
  type LeadRecord,
} from '../../../../src/testing/factories.js';
import { until } from '../../../support/servers/product.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';

const TASKS = '/api/v1/tasks';
const APPOINTMENTS = '/api/v1/appointments';
/** PostgreSQL also knows CET as an abbreviation without summer time. */
const ZONES = ['Australia/Lord_Howe', 'America/St_Johns', 'Asia/Kathmandu', 'CET', 'UTC'];
const USER = '01a1fbdd-0c66-7f51-8e0d-93b7a1c25d18';

type Value = string | number | boolean | null;
interface Row {
  readonly value: Value;
  readonly count: number;
}
interface Counts {
  readonly data: readonly Row[];
  readonly meta: { readonly total: number; readonly other: number };
}

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.shared();
});

async function countsOf(api: ApiClient, path: string, query: Record<string, string>) {
  const answer = await api.get(`${path}/counts?${new URLSearchParams(query)}`);
  expect({ status: answer.status, error: errorText(answer) }).toEqual({ status: 200 });
  return answer.body as Counts;
}

function errorText({ body }: Answer): unknown {
  return (body as { error?: unknown }).error;
}

/** Counts in the test, in the order of the contract. */
function naive(values: readonly (readonly Value[])[]): Counts {
  const counts = new Map<Value, number>();
  for (const value of values.flatMap((each) => (each.length > 0 ? each : [null]))) {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const rank = (value: Value) => (value === null ? 2 : typeof value === 'number' ? 0 : 1);
  const rows = [...counts].map(([value, count]) => ({ value, count }));
  const data = rows.toSorted((a, b) => {
    const byRank = b.count - a.count || rank(a.value) - rank(b.value);
    if (byRank !== 0) return byRank;
    if (typeof a.value === 'number') return a.value - (b.value as number);
    return Buffer.compare(Buffer.from(String(a.value)), Buffer.from(String(b.value)));
  });
  return { data, meta: { total: values.length, other: 0 } };
}

const CALENDARS = new Map(
  ZONES.map((timeZone) => [timeZone, new Intl.DateTimeFormat('sv-SE', { timeZone })]),
);

/** Counts times by day, week or month of a zone in the test, by the time zones of Node.js. */
function naiveByTime(
  times: readonly (string | null)[],
  zone: string,
  unit: 'day' | 'week' | 'month',
) {
  const names = times.map((time) => {
    if (time === null) return null;
    const day = CALENDARS.get(zone)!.format(new Date(time));
    if (unit === 'month') return day.slice(0, 7);
    const date = new Date(`${day}T00:00Z`);
    if (unit === 'week') date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
    return date.toISOString().slice(0, 10);
  });
  const known = names.filter((name) => name !== null).toSorted();
  const run: string[] = [];
  for (let name = known[0]!; known.length > 0 && name <= known.at(-1)!;) {
    run.push(name);
    const date = new Date(unit === 'month' ? `${name}-01` : name);
    if (unit === 'month') date.setUTCMonth(date.getUTCMonth() + 1);
    else date.setUTCDate(date.getUTCDate() + (unit === 'week' ? 7 : 1));
    name = date.toISOString().slice(0, unit === 'month' ? 7 : 10);
  }
  const countOf = (value: Value) => names.filter((name) => name === value).length;
  const missing = countOf(null);
  const data = [
    ...run.slice(-366).map((value) => ({ value, count: countOf(value) })),
    ...(missing > 0 ? [{ value: null, count: missing }] : []),
  ];
  const shown = data.reduce((sum, { count }) => sum + count, 0);
  return { data, meta: { total: times.length, other: times.length - shown } };
}

/** Inserts leads of the last years, some of them within minutes of the changes of clocks and of midnights. */
async function insertLeads({ id }: Tenant): Promise<void> {
  await server.sql(
    `insert into leads (organization_id, id, first_name, status, temperature, source, city, tags, custom_fields,
       lead_score, sms_opted_out, on_dnc_list, created_at)
     select $1, gen_random_uuid(), 'Lead', (array['new', 'won', 'Won', null, 'ß'])[1 + n % 5],
       (array['hot', 'warm', null])[1 + n % 3], (array['api', 'website'])[1 + n % 2],
       case when n % 7 > 0 then 'City ' || n * n % 13 end,
       (case n % 4 when 0 then '{roof}' when 1 then '{}' when 2 then '{Roof,roof}' else '{spring,roof}' end)::text[],
       '{}', 0, false, false, time
     from (select row_number() over ()::int as n, time from (
       select timestamptz '2026-01-01 00:00Z' - n * interval '13 hours 7 minutes' as time
         from generate_series(0, 899) n
       union all select at + n * interval '13 minutes' from
         unnest($2::timestamptz[]) at, generate_series(-9, 9) n) times) numbered`,
    [
      id,
      [
        // Lord Howe: clocks change by half an hour. St. John's: by an hour, at 2 o'clock. Midnights of Kathmandu and UTC.
        ...['2025-04-05T15:00Z', '2025-10-04T15:30Z', '2025-03-09T05:30Z', '2025-11-02T04:30Z'],
        ...['2025-06-01T18:15Z', '2025-12-31T00:00Z', '2025-09-01T00:00Z'],
      ],
    ],
  );
}

describe('counts', () => {
  let tenant: Tenant;
  let leads: LeadRecord[];

  beforeAll(async () => {
    tenant = await server.organization();
    await insertLeads(tenant);
    leads = [];
    for (let after = '', more = true; more;) {
      const answer = await tenant.api.get(`${LEADS}?after=${after}&limit=100&fields=*`);
      leads.push(...dataOf<LeadRecord[]>(answer));
      const { meta } = answer.body as { meta: { next: string; has_more: boolean } };
      [after, more] = [meta.next, meta.has_more];
    }
  });

  it.each(['status', 'temperature', 'source', 'city'] as const)(
    'of leads by %s are those of a computation by hand, with and without filters',
    async (by) => {
      expect(await countsOf(tenant.api, LEADS, { by })).toEqual(
        naive(leads.map((lead) => (lead[by] === null ? [] : [lead[by]]))),
      );
      const created_after = '2025-06-01T00:00:00Z';
      const filters = { temperature: 'hot', created_after };
      const found = leads.filter(
        ({ temperature, created_at }) => temperature === 'hot' && created_at >= created_after,
      );
      expect(await countsOf(tenant.api, LEADS, { by, ...filters })).toEqual(
        naive(found.map((lead) => (lead[by] === null ? [] : [lead[by]]))),
      );
    },
  );

  it('of leads by tag count a lead once for each of its tags, and once in the total', async () => {
    const counts = await countsOf(tenant.api, LEADS, { by: 'tag' });
    expect(counts).toEqual(naive(leads.map(({ tags }) => tags)));
    expect(counts.data.map(({ value }) => value)).toEqual(['roof', null, 'Roof', 'spring']);
    const found = leads.filter(({ tags }) => tags.includes('spring'));
    expect(await countsOf(tenant.api, LEADS, { by: 'tag', tag: 'SPRING' })).toEqual(
      naive(found.map(({ tags }) => tags)),
    );
  });

  it.each(ZONES)('by time are those of the days, weeks and months of %s', async (zone) => {
    const times = leads.map(({ created_at }) => created_at);
    for (const unit of ['day', 'week', 'month'] as const) {
      const counts = await countsOf(tenant.api, LEADS, { by: `created_${unit}`, time_zone: zone });
      expect(counts).toEqual(naiveByTime(times, zone, unit));
      expect(counts.meta.other > 0).toBe(unit === 'day');
    }
  });

  it('take the filter of the list', async () => {
    const filter = { or: [{ tags: { has: 'SPRING' } }, { city: { is_empty: true } }] };
    const found = leads.filter(({ tags, city }) => tags.includes('spring') || city === null);
    const query = { filter: JSON.stringify(filter), temperature: 'hot' };
    const hot = found.filter(({ temperature }) => temperature === 'hot');
    expect(hot.length).toBeGreaterThan(100);
    for (const by of ['status', 'city'] as const) {
      expect(await countsOf(tenant.api, LEADS, { by, ...query })).toEqual(
        naive(hot.map((lead) => (lead[by] === null ? [] : [lead[by]]))),
      );
    }
    const path = `${LEADS}/counts?by=status&filter=`;
    expectInvalid(await tenant.api.get(`${path}{"citi":1}`), 'filter.citi');
    const { api } = await server.key(tenant.id, ['leads:read']);
    const related = encodeURIComponent('{"tasks":{"none":{"status":"open"}}}');
    expectError(await api.get(path + related), 403, 'insufficient_scope');
    expect((await countsOf(tenant.api, LEADS, { by: 'city', filter: '{}' })).meta.total).toBe(
      leads.length,
    );
  });

  it('by time are in the zone of the organization by default', async () => {
    const us = await server.organization({ scopes: server.scopes.every });
    const created_at = '2026-03-01T20:00:00Z';
    const { id } = await createLead(us.api);
    await server.sql('update leads set created_at = $2 where id = $1', [id, created_at]);
    const dayOf = async (query = {}) =>
      (await countsOf(us.api, LEADS, { by: 'created_day', ...query })).data;
    expect(await dayOf()).toEqual([{ value: '2026-03-01', count: 1 }]);
    dataOf(await us.api.put('/api/v1/organization', { time_zone: 'Asia/Kathmandu' }));
    const kathmandu = [{ value: '2026-03-02', count: 1 }];
    await until(async () => (await dayOf())[0]!.value === kathmandu[0]!.value);
    expect(await dayOf({ time_zone: 'america/st_johns' })).toEqual([
      { value: '2026-03-01', count: 1 },
    ]);
  });

  it('of tasks and appointments have days without holes, and tasks without a due date', async () => {
    const { api } = await server.organization();
    const lead_id = (await createLead(api)).id;
    const days = ['2026-03-28T12:00:00Z', '2026-03-30T23:50:00Z', null, '2027-01-05T00:00:00Z'];
    for (const due_date of days) {
      const assigned_to_user_id = due_date === null ? null : USER;
      dataOf(await api.post(TASKS, { title: 'Call', due_date, assigned_to_user_id }), 201);
      if (due_date === null) continue;
      const end_time = due_date.replace('T', 'T23:59:59.99').replace(/(?<=99).*/, 'Z');
      const appointment = { lead_id, start_time: due_date, end_time, type: 'Estimate' };
      dataOf(await api.post(APPOINTMENTS, appointment), 201);
    }
    for (const time_zone of ZONES) {
      expect(await countsOf(api, TASKS, { by: 'due_day', time_zone })).toEqual(
        naiveByTime(days, time_zone, 'day'),
      );
      const starts = days.filter((day) => day !== null);
      expect(await countsOf(api, APPOINTMENTS, { by: 'start_day', time_zone })).toEqual(
        naiveByTime(starts, time_zone, 'day'),
      );
    }
    const window = { by: 'start_day', start_before: '2026-04-01T00:00:00Z' };
    expect((await countsOf(api, APPOINTMENTS, window)).data).toEqual([
      { value: '2026-03-28', count: 1 },
      { value: '2026-03-29', count: 0 },
      { value: '2026-03-30', count: 1 },
    ]);
    expect(await countsOf(api, TASKS, { by: 'assigned_to' })).toEqual({
      data: [
        { value: USER, count: 3 },
        { value: null, count: 1 },
      ],
      meta: { total: 4, other: 0 },
    });
    expect(await countsOf(api, TASKS, { by: 'priority', assigned_to: USER })).toEqual({
      data: [{ value: 'medium', count: 3 }],
      meta: { total: 3, other: 0 },
    });
    expect(await countsOf(api, APPOINTMENTS, { by: 'type', status: 'scheduled' })).toEqual({
      data: [{ value: 'Estimate', count: 3 }],
      meta: { total: 3, other: 0 },
    });
    expect(await countsOf(api, TASKS, { by: 'due_day', status: 'cancelled' })).toEqual({
      data: [],
      meta: { total: 0, other: 0 },
    });
    const earlier = { title: 'Call', due_date: '2024-01-01T12:00:00Z' };
    dataOf(await api.post(TASKS, earlier), 201);
    expect(await countsOf(api, TASKS, { by: 'due_day' })).toEqual(
      naiveByTime([earlier.due_date, ...days], 'UTC', 'day'),
    );
  });

  it('by time name no day before the year 1 or after 9999', async () => {
    const { api } = await server.organization();
    for (const due_date of ['0001-01-01T05:00:00Z', '9999-12-31T20:00:00Z']) {
      dataOf(await api.post(TASKS, { title: 'Call', due_date }), 201);
    }
    const dayOf = async (time_zone: string, window: object) =>
      (await countsOf(api, TASKS, { by: 'due_day', time_zone, ...window })).data;
    const last = [{ value: '9999-12-31', count: 1 }];
    expect(await dayOf('Asia/Tokyo', { due_after: '9999-01-01T00:00:00Z' })).toEqual(last);
    const first = [{ value: '0001-01-01', count: 1 }];
    expect(await dayOf('Pacific/Honolulu', { due_before: '0002-01-01T00:00:00Z' })).toEqual(first);
  });

  it('have at most 366 values, the largest, and the rest in meta.other', async () => {
    const us = await server.organization();
    await server.sql(
      `insert into leads (organization_id, id, first_name, source, status, city, tags, custom_fields, lead_score, sms_opted_out, on_dnc_list)
       select $1, gen_random_uuid(), 'Lead', 'api', value, value, '{}', '{}', 0, false, false
       from generate_series(1, 400) n, repeat(chr(64 + n % 26), 1 + n / 26) value,
         generate_series(0, n % 3)`,
      [us.id],
    );
    const [byCity, byStatus] = await Promise.all(
      ['city', 'status'].map((by) => countsOf(us.api, LEADS, { by })),
    );
    expect(byCity!.data).toHaveLength(366);
    expect(byCity).toEqual(byStatus);
    const { data, meta } = byCity!;
    expect(meta).toEqual({ total: 800, other: 34 });
    expect(data.reduce((sum, { count }) => sum + count, 0) + meta.other).toBe(meta.total);
    expect(data.map(({ count }) => count)).toEqual(
      data.map(({ count }) => count).toSorted((a, b) => b - a),
    );
  });

  it('of own fields are by JSON value; objects and arrays are in meta.other', async () => {
    const { api } = await server.organization();
    const values = [5, 5.0, '5', 10, 9, 'é', 'Z', 'a', true, false, null, '', { a: 1 }, [1], [2]];
    const key = 'a.b "c';
    for (const value of values) await createLead(api, { custom_fields: { [key]: value } });
    await createLead(api);
    const scalar = values.filter((value) => typeof value !== 'object' || value === null) as Value[];
    const { data } = naive([...scalar.map((value) => [value]), []]);
    expect(await countsOf(api, LEADS, { by: `custom_fields.${key}` })).toEqual({
      data,
      meta: { total: 16, other: 3 },
    });
    expect(await countsOf(api, LEADS, { by: 'custom_fields.toString' })).toEqual({
      data: [{ value: null, count: 16 }],
      meta: { total: 16, other: 0 },
    });
  });

  it('of own fields with several options count a lead once for each of them', async () => {
    const { api } = await server.organization({ scopes: server.scopes.every });
    const options = ['slate', 'tile', 'thatch'].map((value) => ({ value }));
    const definition = { key: 'roof', type: 'multi_select', options };
    dataOf(await api.post('/api/v1/custom-fields', definition), 201);
    const roofs = [['tile', 'slate'], ['tile'], [], null];
    for (const roof of roofs) await createLead(api, { custom_fields: { roof } });
    expect(await countsOf(api, LEADS, { by: 'custom_fields.roof' })).toEqual(
      naive(roofs.map((roof) => roof ?? [])),
    );
  });

  it('follow deletions, and those of other organizations are not counted', async () => {
    const { api } = await server.organization();
    const { id } = await createLead(api, { status: 'new', city: 'Graz' });
    await createLead(api, { status: 'new' });
    dataOf(await api.delete(`${LEADS}/${id}`));
    for (const by of ['status', 'city', 'tag', 'created_month']) {
      const { data, meta } = await countsOf(api, LEADS, { by });
      expect({ by, rows: data.length, meta }).toEqual({
        by,
        rows: 1,
        meta: { total: 1, other: 0 },
      });
    }
  });

  it('refuse what they do not know, with every problem', async () => {
    const { api } = tenant;
    const path = `${LEADS}/counts`;
    expectInvalid(await api.get(path), 'by');
    const wrong = ['', 'name', 'custom_fields', 'custom_fields.', 'status.a', 'constructor'];
    for (const by of [...wrong, `custom_fields.${'x'.repeat(101)}`, 'custom_fields.%00']) {
      expectInvalid(await api.get(`${path}?by=${by}&time_zone=Mars/Olympus`), 'by', 'time_zone');
    }
    expectInvalid(await api.get(`${path}?by=status&limit=5`), 'limit');
    expectInvalid(await api.get(`${path}?by=status&by=city`), 'by');
    expectInvalid(await api.get(`${TASKS}/counts?by=city`), 'by');
    // PostgreSQL knows the first two.
    for (const zone of ['+01:00', 'Foo5', '%00']) {
      expectInvalid(await api.get(`${path}?by=created_day&time_zone=${zone}`), 'time_zone');
    }
  });

  it('need a key with the read scope of the records', async () => {
    const scopes = ['leads:read', 'appointments:read', 'tasks:read'] as const;
    for (const [index, path] of [LEADS, APPOINTMENTS, TASKS].entries()) {
      const others = await server.key(tenant.id, scopes.toSpliced(index, 1));
      expectError(await others.api.get(`${path}/counts`), 403, 'insufficient_scope');
      expectError(await server.client().get(`${path}/counts?by=status`), 401, 'unauthorized');
      const own = await server.key(tenant.id, [scopes[index]!]);
      dataOf(await own.api.get(`${path}/counts?by=status`));
    }
  });
});
