import { Injectable, Module } from '@nestjs/common';
import { Job } from '../../../../src/platform/jobs/job.decorator.js';
import type { Call } from '../../../../src/platform/data/call.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import type { DatabaseTarget } from '../../../../src/platform/data/connection/data-source-options.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { until } from '../../../support/servers/product.js';
import { untilTrue } from '../../../support/mcp/mcp-helpers.js';

/** The runs of the jobs in all instances: `hourly`, or the id of the organization. */
let runs: string[];
let handle: () => Promise<unknown>;

@Injectable()
class Schedules {
  @Job({ name: 'acme.hourly', every: '1h' })
  async hourly() {
    runs.push('hourly');
    await handle();
  }

  @Job({
    name: 'acme.nightly',
    cron: '0 3 * * *',
    timeZone: 'Europe/Berlin',
    perOrganization: true,
  })
  async nightly(call: Call) {
    runs.push(call.tenant.id);
    await handle();
  }
}

@Module({ providers: [Schedules] })
class SchedulesModule {}

let database: DatabaseTarget;
let servers: TestApp[];

beforeAll(async () => {
  database = await createDatabase();
  const options = { modules: [SchedulesModule], database };
  servers = await Promise.all([TestApp.start(options), TestApp.start(options)]);
});
beforeEach(() => {
  runs = [];
  handle = () => Promise.resolve();
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await dropDatabase(database);
});

interface StoredSchedule {
  name: string;
  next_run_at: Date;
  is_running: boolean;
  is_due: boolean;
}
const schedule = async (name: string) => {
  const [row] = await servers[0]!.sql<StoredSchedule>(
    `select *, locked_until is not null as is_running, next_run_at <= now() as is_due
     from job_schedules where name = $1`,
    [name],
  );
  return row!;
};
/** The column has milliseconds: `now()` could be rounded up, to a time that is not reached yet. */
const makeDue = (name: string) =>
  servers[0]!.sql(
    `update job_schedules set next_run_at = date_trunc('milliseconds', now()) where name = $1`,
    [name],
  );
/** Waits until the run that is due has ended. */
const untilEnded = (name: string) =>
  until(async () => {
    const { is_due, is_running } = await schedule(name);
    return !is_due && !is_running;
  });

describe('@Job({ every })', () => {
  it('runs once over all instances at each multiple of the interval', async () => {
    const { next_run_at } = await schedule('acme.hourly');
    expect(next_run_at.getTime() % 3_600_000).toBe(0);
    for (const tick of [1, 2, 3]) {
      await makeDue('acme.hourly');
      await untilEnded('acme.hourly');
      expect(runs).toHaveLength(tick);
    }
    expect((await schedule('acme.hourly')).next_run_at.getTime() % 3_600_000).toBe(0);
  });

  it('does not run again while a run is in progress', async () => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    handle = () => ended;
    await makeDue('acme.hourly');
    await untilTrue(() => runs.length === 1);
    await makeDue('acme.hourly');
    handle = () => Promise.resolve();
    expect(await schedule('acme.hourly')).toMatchObject({ is_due: true, is_running: true });
    end();
    await untilEnded('acme.hourly');
    expect(runs).toHaveLength(2);
  });

  it('runs again at the next time after a run that failed', async () => {
    handle = () => Promise.reject(new Error('for a test'));
    await makeDue('acme.hourly');
    await untilEnded('acme.hourly');
    handle = () => Promise.resolve();
    await makeDue('acme.hourly');
    await untilEnded('acme.hourly');
    expect(runs).toHaveLength(2);
  });

  it('runs in another instance when the instance of the last run was killed and its lease ended', async () => {
    await servers[0]!.sql(
      `update job_schedules set next_run_at = now(), locked_until = now() + interval '1 minute'
       where name = 'acme.hourly'`,
    );
    expect(runs).toEqual([]);
    await servers[0]!.sql(
      `update job_schedules set locked_until = now() where name = 'acme.hourly'`,
    );
    await untilEnded('acme.hourly');
    expect(runs).toEqual(['hourly']);
  });
});

describe('@Job({ cron, perOrganization: true })', () => {
  it('is due at the times of the expression in its time zone', async () => {
    const { next_run_at } = await schedule('acme.nightly');
    const berlin = { timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit' } as const;
    expect(next_run_at.toLocaleTimeString('en-GB', berlin)).toBe('03:00');
  });

  it('runs once for each organization, with a call for it', async () => {
    const tenants = [await servers[0]!.organization(), await servers[0]!.organization()];
    await makeDue('acme.nightly');
    await untilEnded('acme.nightly');
    await until(async () => (await servers[0]!.sql('select from jobs')).length === 0);
    expect(runs.toSorted()).toEqual(tenants.map(({ id }) => id).toSorted());
  });

  it('keeps no failed job, because it runs again anyway', async () => {
    handle = () => Promise.reject(new Error('for a test'));
    await makeDue('acme.nightly');
    await untilTrue(() => runs.length > 0);
    await until(async () => (await servers[0]!.sql('select from jobs')).length === 0);
  });
});

describe('startup fails with an error message for', () => {
  const startWith = (...options: Parameters<typeof Job>[0][]) => {
    @Injectable()
    class Declared {}
    options.forEach((option, index) => {
      const method = { value: () => undefined };
      Object.defineProperty(Declared.prototype, `method${index}`, method);
      (Job(option) as MethodDecorator)(Declared.prototype, `method${index}`, method);
    });
    @Module({ providers: [Declared] })
    class DeclaredModule {}
    return TestApp.start({ modules: [DeclaredModule], database });
  };

  it.each([
    [
      'an interval',
      { name: 'acme.x', every: '0s' },
      'interval of job acme.x must be a whole number',
    ],
    ['an expression', { name: 'acme.x', cron: 'x' }, 'schedule of job acme.x is invalid'],
    ['a time zone', { name: 'acme.x', cron: '* * * * *', timeZone: 'X' }, 'acme.x is invalid'],
    ['a name', { name: 'two words', every: '1h' }, '"two words" is not a valid name of a job'],
  ] as const)('%s that is invalid', async (_, option, message) => {
    await expect(startWith(option)).rejects.toThrow(message);
  });

  it('two jobs with the same name', async () => {
    const started = startWith({ name: 'acme.x', every: '1h' }, { name: 'acme.x', every: '2h' });
    await expect(started).rejects.toThrow('Two methods are declared for the job acme.x');
  });
});
