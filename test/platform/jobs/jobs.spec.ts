import { randomUUID } from 'node:crypto';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { JobBacklog } from '../../../src/platform/jobs/job-backlog.js';
import { defineJob } from '../../../src/platform/jobs/job.js';
import { JobsService } from '../../../src/platform/jobs/jobs.service.js';
import { LeadsService } from '../../../src/modules/leads/leads.service.js';
import { createLead, dataOf, expectError } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { greetings, GreetingsModule, StoredJobs } from '../../support/modules/greetings.module.js';
import { untilTrue } from '../../support/mcp/mcp-helpers.js';
import { until } from '../../support/servers/product.js';

// Broken on purpose for docs/operating/runbook.md#work-in-the-background-is-late

let app: TestApp;
let tenant: Tenant;
let jobs: StoredJobs;

beforeAll(async () => {
  app = await TestApp.start({ modules: [GreetingsModule] });
});
beforeEach(async () => {
  greetings.reset();
  tenant = await app.organization();
  jobs = new StoredJobs(app, tenant.id);
});
afterAll(() => app.stop());

const post = (text: string, headers = {}) =>
  tenant.api.post('/api/v1/greetings', { text }, { headers });

/** The metric of the job of these tests. */
async function oldestDue(): Promise<number> {
  await app.app.get(JobBacklog).measure();
  const text = await (await fetch(`${app.url}/metrics`)).text();
  return Number(/latitude_jobs_oldest_due_seconds\{job="acme.greet"\} (\S+)/.exec(text)?.[1]);
}

describe('jobs.send', () => {
  it('runs the handler once, with a call for the organization and the payload', async () => {
    const { id } = dataOf<{ id: string }>(await post('hello'), 201);
    await jobs.untilNone();
    expect(greetings.runs).toEqual([
      {
        instance: expect.any(String) as string,
        organization: tenant.id,
        text: 'hello',
        run: { id, attempt: 1 },
      },
    ]);
  });

  it('gives the handler a call that the services of features accept', async () => {
    const lead = await createLead(tenant.api);
    greetings.handle = (call) => app.app.get(LeadsService).delete(call, lead.id);
    await jobs.send('delete');
    await jobs.untilNone();
    expectError(await tenant.api.get(`/api/v1/leads/${lead.id}`), 404, 'not_found');
  });

  it('stores no job when its transaction is rolled back', async () => {
    const answer = await post('fail', { 'Idempotency-Key': randomUUID() });
    expectError(answer, 500, 'internal_error');
    expect({ jobs: await jobs.all(), runs: greetings.runs }).toEqual({ jobs: [], runs: [] });
  });

  it('stores no job in a dry run', async () => {
    const database = app.app.get(TenantDatabase);
    await database.dryRun({ tenant: { id: tenant.id } }, (inner) =>
      jobs.send('dry run', {}, inner),
    );
    expect({ jobs: await jobs.all(), runs: greetings.runs }).toEqual({ jobs: [], runs: [] });
  });

  it('stores one job for a repeated request with an Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    dataOf(await post('once', headers), 201);
    dataOf(await post('once', headers), 201);
    await jobs.untilNone();
    expect(greetings.texts).toEqual(['once']);
  });

  it('stores one job for a key until that job has run, in each organization', async () => {
    const other = await app.organization();
    const options = { key: 'welcome', delay: '1h' } as const;
    expect(await jobs.send('first', options)).toEqual(expect.any(String));
    expect(await jobs.send('second', options)).toBeUndefined();
    expect(await jobs.send('other', options, { tenant: other })).toEqual(expect.any(String));
    await jobs.passTime();
    await jobs.untilNone();
    expect(await jobs.send('third', { key: 'welcome' })).toEqual(expect.any(String));
    await jobs.untilNone();
    expect(greetings.texts).toEqual(['first', 'third']);
  });

  it('delays the first run', async () => {
    await jobs.send('later', { delay: '2h' });
    expect(await jobs.all()).toMatchObject([{ attempts: 0, delay: 120 }]);
    await jobs.passTime();
    await jobs.untilNone();
    expect(greetings.texts).toEqual(['later']);
  });

  it('runs jobs with the same ordering key one after the other, in their order', async () => {
    let running = 0;
    greetings.handle = async () => {
      expect(++running).toBe(1);
      await new Promise(setImmediate);
      running--;
    };
    const sent = ['1', '2', '3', '4'];
    for (const text of sent) await jobs.send(text, { orderingKey: 'lead' });
    await jobs.untilNone();
    expect(greetings.texts).toEqual(sent);
  });

  it('runs at most as many jobs at a time as the job allows, and measures how late the others are', async () => {
    let [running, most] = [0, 0];
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    greetings.handle = async () => {
      most = Math.max(most, ++running);
      await ended;
      running--;
    };
    for (const text of ['1', '2', '3', '4']) await jobs.send(text);
    await untilTrue(() => running === 2);
    await app.sql(
      `update jobs set run_at = run_at - interval '2 hours' where organization_id = $1 and not is_running`,
      [tenant.id],
    );
    expect(await oldestDue()).toBeGreaterThanOrEqual(7_200);
    await app.sql('update organizations set suspended = true where id = $1', [tenant.id]);
    expect(await oldestDue()).toBe(0);
    await app.sql('update organizations set suspended = false where id = $1', [tenant.id]);
    end();
    await jobs.untilNone();
    expect(await oldestDue()).toBe(0);
    expect({ most, runs: greetings.runs.length }).toEqual({ most: 2, runs: 4 });
  });

  it('refuses a job that no method handles', async () => {
    const sent = app.app
      .get(JobsService)
      .send({ tenant: { id: tenant.id } }, defineJob('acme.unknown'), {});
    await expect(sent).rejects.toThrow('No method handles the job acme.unknown');
  });
});

describe('jobs.send with runAgain', () => {
  const options = { key: 'sync', runAgain: true } as const;
  /** Makes the first run last until the returned function is called. */
  const holdFirstRun = () => {
    let end = (): void => undefined;
    const held = new Promise<void>((resolve) => (end = resolve));
    greetings.handle = () => (greetings.runs.length === 1 ? held : Promise.resolve());
    return () => {
      end();
    };
  };

  it('runs a running job once more, however often it is sent', async () => {
    const end = holdFirstRun();
    const id = await jobs.send('sync', options);
    await untilTrue(() => greetings.runs.length === 1);
    expect(await jobs.send('sync', options)).toBe(id);
    expect(await jobs.send('sync', options)).toBe(id);
    end();
    await jobs.untilNone();
    expect(greetings.runs.map(({ run }) => run)).toEqual([
      { id, attempt: 1 },
      { id, attempt: 1 },
    ]);
  });

  it('runs a job again that was sent in a transaction which commits after the run', async () => {
    const end = holdFirstRun();
    await jobs.send('sync', options);
    await untilTrue(() => greetings.runs.length === 1);
    await app.app.get(TenantDatabase).transaction({ tenant: { id: tenant.id } }, async (inner) => {
      await jobs.send('sync', options, inner);
      end();
    });
    await untilTrue(() => greetings.runs.length === 2);
    await jobs.untilNone();
  });

  it('moves a waiting job to the earlier time', async () => {
    await jobs.send('sync', { ...options, delay: '2h' });
    await jobs.send('sync', { ...options, delay: '1h' });
    await jobs.send('sync', { ...options, delay: '3h' });
    expect(await jobs.all()).toMatchObject([{ attempts: 0, delay: 60 }]);
  });

  it('runs a job again that was sent during its last attempt, which failed', async () => {
    greetings.handle = async (_, __, { attempt }) => {
      if (attempt === 3) await jobs.send('sync', { ...options, delay: '1h' });
      throw new Error('for a test');
    };
    await jobs.send('sync', options);
    await jobs.untilFailed(1);
    await jobs.passTime();
    await jobs.untilFailed(2);
    await jobs.passTime();
    await until(async () => (await jobs.all())[0]?.attempts === 0);
    expect(await jobs.all()).toMatchObject([{ attempts: 0, delay: 60, failed: false }]);
  });
});

describe('a job that fails', () => {
  it('is retried with a growing delay, then kept with the type of its error', async () => {
    greetings.handle = () => Promise.reject(new TypeError('a message with personal data'));
    await jobs.send('fails');
    const first = await jobs.untilFailed(1);
    await jobs.passTime();
    const second = await jobs.untilFailed(2);
    await jobs.passTime();
    const third = await jobs.untilFailed(3);
    for (const [{ delay }, most] of [
      [first, 60],
      [second, 120],
    ] as const) {
      expect(delay).toBeGreaterThan(0.7 * most);
      expect(delay).toBeLessThanOrEqual(most);
    }
    expect([first, second, third]).toMatchObject([
      { failed: false },
      { failed: false },
      { failed: true, last_error: 'TypeError' },
    ]);
    expect(greetings.runs.map(({ run }) => run.attempt)).toEqual([1, 2, 3]);
    expect(new Set(greetings.runs.map(({ run }) => run.id)).size).toBe(1);
  });

  it('is counted by its outcome in the metrics', async () => {
    const outcomes = async () => {
      const text = await (await fetch(`${app.url}/metrics`)).text();
      const found = text.matchAll(/latitude_jobs_total\{job="acme.greet",outcome="(\w+)"\} (\d+)/g);
      return Object.fromEntries(Array.from(found, ([, name = '', count]) => [name, Number(count)]));
    };
    const before = await outcomes();
    greetings.handle = (_, __, { attempt }) =>
      attempt === 1 ? Promise.reject(new Error('for a test')) : Promise.resolve();
    await jobs.send('fails once');
    await jobs.untilFailed(1);
    await jobs.passTime();
    await jobs.untilNone();
    expect(await outcomes()).toEqual({
      succeeded: before.succeeded! + 1,
      retried: before.retried! + 1,
      failed: before.failed,
    });
  });
});
