import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
} from '../../../src/testing/factories.js';
import { TestServer } from '../../../src/testing/test-server.js';
import type { Tenant } from '../../../src/testing/test-server.js';

interface Appointment {
  id: string;
  lead_id: string;
  start_time: string;
  end_time: string;
  status: string;
  updated_at: string;
}

const APPOINTMENTS = '/api/v1/appointments';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});

const body = (fields: object = {}) => ({
  start_time: '2026-05-04T09:00:00Z',
  end_time: '2026-05-04T10:00:00Z',
  ...fields,
});
const create = async ({ api }: Tenant, fields: object = {}) => {
  const { id: lead_id } = await createLead(api);
  return dataOf<Appointment>(await api.post(APPOINTMENTS, body({ lead_id, ...fields })), 201);
};
const put = (id: string, changes: object) => tenant.api.put(`${APPOINTMENTS}/${id}`, changes);

describe('the lead of an appointment', () => {
  it('must exist in the organization, or the answer is lead_not_found', async () => {
    const stranger = await app.organization();
    const foreign = await createLead(stranger.api);
    const deleted = await createLead(tenant.api);
    await tenant.api.delete(`/api/v1/leads/${deleted.id}`);
    for (const lead_id of [UNKNOWN, foreign.id, deleted.id]) {
      const answer = await tenant.api.post(APPOINTMENTS, body({ lead_id }));
      expectError(answer, 404, 'lead_not_found');
      expect(errorOf(answer)).toMatchObject({
        message: expect.stringContaining('lead_id') as string,
        details: [{ field: 'lead_id' }],
      });
    }
  });

  it('may be given in upper case', async () => {
    const lead = await createLead(tenant.api);
    const answer = await tenant.api.post(APPOINTMENTS, body({ lead_id: lead.id.toUpperCase() }));
    expect(dataOf<Appointment>(answer, 201).lead_id).toBe(lead.id);
  });

  it('cannot be changed', async () => {
    const { id, lead_id } = await create(tenant);
    const answer = await put(id, { lead_id });
    expectInvalid(answer, 'lead_id');
    expect(answer.body.error.details[0].message).toBe('cannot be changed');
  });

  it('keeps its appointments when it is deleted', async () => {
    const appointment = await create(tenant);
    await tenant.api.delete(`/api/v1/leads/${appointment.lead_id}`);
    const kept = dataOf<Appointment>(await tenant.api.get(`${APPOINTMENTS}/${appointment.id}`));
    expect(kept).toStrictEqual(appointment);
    expect((await put(appointment.id, { notes: 'still here' })).status).toBe(200);
  });

  it('gets no appointment after its deletion, even from concurrent requests', async () => {
    for (let round = 0; round < 10; round++) {
      const lead = await createLead(tenant.api);
      const post = () => tenant.api.post(APPOINTMENTS, body({ lead_id: lead.id }));
      const [deletion, ...answers] = await Promise.all([
        tenant.api.delete(`/api/v1/leads/${lead.id}`),
        ...Array.from({ length: 8 }, post),
      ]);
      expect(deletion.status).toBe(200);
      expect(answers.filter(({ status }) => status !== 201 && status !== 404)).toEqual([]);
      const made = answers.filter(({ status }) => status === 201).length;
      const [late] = await app.sql<{ n: number }>(
        `select count(*)::int as n from appointments a join leads l on l.id = a.lead_id
         where l.id = $1 and a.created_at > l.deleted_at + interval '1 second'`,
        [lead.id],
      );
      expect(late!.n).toBe(0);
      const list = await tenant.api.get(`${APPOINTMENTS}?lead_id=${lead.id}`);
      expect(list.body.meta.total).toBe(made);
      expectError(await post(), 404, 'lead_not_found');
    }
  });
});

describe('start_time and end_time', () => {
  it.each(['2026-05-04T09:00:00Z', '2026-05-04T08:59:59.999Z', '2026-05-04'])(
    'rejects the end %s, which is not after the start',
    async (end_time) => {
      const { id: lead_id } = await createLead(tenant.api);
      expectInvalid(await tenant.api.post(APPOINTMENTS, body({ lead_id, end_time })), 'end_time');
      const { id } = await create(tenant);
      expectInvalid(await put(id, { end_time }), 'end_time');
      expectInvalid(await put(id, { start_time: '2026-05-04T09:00:00Z', end_time }), 'end_time');
    },
  );

  it('rejects and names a new start that is not before the stored end', async () => {
    const { id } = await create(tenant);
    const refused = await put(id, { start_time: '2026-05-04T10:00:00Z' });
    expectInvalid(refused, 'start_time');
    expect(errorOf(refused).message).toBe('start_time must be before end_time.');
    expect((await put(id, { start_time: '2026-05-04T09:59:59.999Z' })).status).toBe(200);
  });

  it('may be in the past and may overlap', async () => {
    const past = { start_time: '0001-01-01', end_time: '0001-01-01T00:00:00.001Z' };
    const { start_time, end_time } = await create(tenant, past);
    expect([start_time, end_time]).toEqual([
      '0001-01-01T00:00:00.000Z',
      '0001-01-01T00:00:00.001Z',
    ]);
    const { lead_id } = await create(tenant);
    expect((await tenant.api.post(APPOINTMENTS, body({ lead_id }))).status).toBe(201);
  });

  it('answers not_found for an unknown appointment before it compares the times', async () => {
    expectError(await put(UNKNOWN, { end_time: '2000-01-01' }), 404, 'not_found');
  });
});

describe('status', () => {
  const statuses = ['scheduled', 'confirmed', 'completed', 'cancelled', 'no_show'];

  it('changes from any value to any other, and every update with a status increases updated_at', async () => {
    let before = await create(tenant);
    for (const status of statuses.flatMap((from) => statuses.flatMap((to) => [from, to]))) {
      const after = dataOf<Appointment>(await put(before.id, { status }));
      expect(after.status).toBe(status);
      expect(after.updated_at > before.updated_at).toBe(true);
      before = after;
    }
  });

  it('becomes cancelled by DELETE, which keeps the appointment and answers 200 again', async () => {
    const { id } = await create(tenant);
    for (let times = 0; times < 2; times++) {
      const answer = await tenant.api.delete(`${APPOINTMENTS}/${id}`);
      expect(answer).toMatchObject({ status: 200, body: { data: { id, cancelled: true } } });
    }
    const { status } = dataOf<Appointment>(await tenant.api.get(`${APPOINTMENTS}/${id}`));
    expect(status).toBe('cancelled');
    const unknown = await tenant.api.delete(`${APPOINTMENTS}/${UNKNOWN}`);
    expectError(unknown, 404, 'not_found');
  });
});

describe('lists', () => {
  let owner: Tenant;
  let appointments: Appointment[];

  beforeAll(async () => {
    owner = await app.organization();
    appointments = [];
    const statuses = ['scheduled', 'confirmed', 'completed', 'cancelled', 'no_show'];
    for (let n = 0; n < 12; n++) {
      const start_time = `2026-06-${String(1 + (n % 4)).padStart(2, '0')}T00:00:00Z`;
      appointments.push(
        await create(owner, { start_time, end_time: '2026-07-01', status: statuses[n % 5] }),
      );
    }
  });

  const ids = (records: { id: string }[]) => records.map(({ id }) => id);
  const list = async (query: string) =>
    (await owner.api.get(`${APPOINTMENTS}?${query}`)).body as {
      data: Appointment[];
      meta: { total: number };
    };
  const sorted = (key: keyof Appointment) =>
    appointments.toSorted((a, b) => (`${a[key]}${a.id}` < `${b[key]}${b.id}` ? -1 : 1));

  it('are sorted by start_time desc by default, and by id if equal', async () => {
    expect(ids((await list('')).data)).toEqual(ids(sorted('start_time').toReversed()));
    expect(ids((await list('sort_dir=asc')).data)).toEqual(ids(sorted('start_time')));
    const newest = sorted('created_at' as keyof Appointment).toReversed();
    expect(ids((await list('sort_by=created_at')).data)).toEqual(ids(newest));
  });

  it('contain each appointment on exactly one page', async () => {
    const pages = await Promise.all([1, 2, 3, 4, 5].map((page) => list(`limit=3&page=${page}`)));
    const seen = pages.flatMap(({ data }) => ids(data));
    expect(seen).toEqual(ids(sorted('start_time').toReversed()));
    expect(pages.map(({ meta }) => meta.total)).toEqual([12, 12, 12, 12, 12]);
  });

  it('can be filtered by status and by lead', async () => {
    const { data, meta } = await list('status=confirmed');
    expect(data.every(({ status }) => status === 'confirmed')).toBe(true);
    expect(meta.total).toBe(appointments.filter(({ status }) => status === 'confirmed').length);
    const [one] = appointments;
    expect(ids((await list(`lead_id=${one!.lead_id.toUpperCase()}`)).data)).toEqual([one!.id]);
    expect((await list(`lead_id=${UNKNOWN}`)).meta.total).toBe(0);
  });

  it('can be filtered by type, exactly', async () => {
    const us = await app.organization();
    for (const type of ['Estimate', 'estimate', 'Estimate 2', null]) await create(us, { type });
    const found = async (query: string) => {
      const { body } = await us.api.get(`${APPOINTMENTS}?${query}`);
      return body as { data: { type: string }[]; meta: { total: number } };
    };
    expect(await found('type=Estimate')).toMatchObject({
      data: [{ type: 'Estimate' }],
      meta: { total: 1 },
    });
    expect((await found('type=Est')).meta.total).toBe(0);
    expect((await found('type=')).meta.total).toBe(4);
    expect((await found('type=Estimate&status=scheduled')).meta.total).toBe(1);
    expect((await found('type=Estimate&status=cancelled')).meta.total).toBe(0);
  });

  it('can be filtered by the end, which end_before excludes', async () => {
    const us = await app.organization();
    const long = { start_time: '2026-06-01', end_time: '2026-06-09' };
    const { id } = await create(us, long);
    const short = await create(us, { ...long, end_time: '2026-06-02' });
    const found = async (query: string) => {
      return ids(dataOf<{ id: string }[]>(await us.api.get(`${APPOINTMENTS}?${query}`)));
    };
    expect(await found('end_before=2026-06-02')).toEqual([]);
    expect(await found('end_before=2026-06-02T00:00:00.0001Z')).toEqual([short.id]);
    expect(await found('end_before=2026-06-09')).toEqual([short.id]);
    expect((await found('end_before=2026-06-10')).sort()).toEqual([id, short.id].sort());
    expect(await found('end_before=2026-06-10&start_after=2026-06-02')).toEqual([]);
  });

  it('are sorted by updated_at, and can be filtered by it', async () => {
    const us = await app.organization();
    const [one, two] = [await create(us), await create(us)];
    const { updated_at } = dataOf<Appointment & { updated_at: string }>(
      await us.api.put(`${APPOINTMENTS}/${one.id}`, { location: 'Room 2' }),
    );
    const found = async (query: string) => {
      return ids(dataOf<{ id: string }[]>(await us.api.get(`${APPOINTMENTS}?${query}`)));
    };
    expect(await found('sort_by=updated_at')).toEqual([one.id, two.id]);
    expect(await found('sort_by=updated_at&sort_dir=asc')).toEqual([two.id, one.id]);
    expect(await found(`updated_after=${updated_at}`)).toEqual([one.id]);
    expect(await found(`updated_before=${updated_at}`)).toEqual([two.id]);
  });

  it('include start_after and exclude start_before, even below a millisecond', async () => {
    const total = async (query: string) => (await list(query)).meta.total;
    expect(await total('start_after=2026-06-04')).toBe(3);
    expect(await total('start_after=2026-06-04t00:00:00z')).toBe(3);
    expect(await total('start_after=2026-06-04T00:00:00.0000001Z')).toBe(0);
    expect(await total('start_before=2026-06-01')).toBe(0);
    expect(await total('start_before=2026-06-01T00:00:00.0000001Z')).toBe(3);
    expect(await total('start_after=2026-06-02&start_before=2026-06-03&status=scheduled')).toBe(
      appointments.filter(
        ({ start_time, status }) => start_time.startsWith('2026-06-02') && status === 'scheduled',
      ).length,
    );
  });

  it.each([
    'status=x',
    'lead_id=x',
    'start_after=2026-02-30',
    'start_before=tomorrow',
    'end_before=tomorrow',
    'end_after=2026-01-01',
    'updated_after=x',
    'updated_before=x',
    'type=a&type=b',
    `type=${'a'.repeat(101)}`,
    'sort_by=end_time',
    'sort_dir=up',
    'search=x',
    'limit=101',
    'page=0',
  ])('reject and name the parameter of %s', async (query) => {
    expectInvalid(await owner.api.get(`${APPOINTMENTS}?${query}`), query.split('=')[0]!);
  });
});
