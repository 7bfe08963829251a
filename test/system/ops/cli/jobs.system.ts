import { TestApp, urlOf } from '../../../../src/testing/index.js';
import type { SendOptions } from '../../../../src/platform/jobs/jobs.service.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { latitude } from '../../../support/command-line.js';
import {
  greetings,
  GreetingsModule,
  StoredJobs,
} from '../../../support/modules/greetings.module.js';

// Broken on purpose for docs/operating/runbook.md#work-in-the-background-is-late

let app: TestApp;
let tenant: Tenant;
let jobs: StoredJobs;

beforeAll(async () => {
  app = await TestApp.start({ modules: [GreetingsModule] });
});
beforeEach(async () => {
  greetings.reset();
  greetings.handle = () => Promise.reject(new TypeError('failed'));
  tenant = await app.organization();
  jobs = new StoredJobs(app, tenant.id);
});
afterAll(() => app.stop());

const run = <T>(...args: string[]) =>
  latitude<T>({ DATABASE_URL: urlOf(app.database) }, 'jobs', ...args);

/** Sends a job that fails with every attempt. */
async function failedJob(options?: SendOptions): Promise<string> {
  const id = await jobs.send('hello', options);
  for (const attempt of [1, 2]) {
    await jobs.untilFailed(attempt);
    await jobs.passTime();
  }
  await jobs.untilFailed(3);
  return id!;
}

describe('latitude jobs', () => {
  it('lists a failed job, and lets it run again with all its attempts', async () => {
    const id = await failedJob();
    expect(await run('list', '--id', id)).toEqual([
      expect.objectContaining({ organization_id: tenant.id, id, name: 'acme.greet', attempts: 3 }),
    ]);
    greetings.reset();
    expect(await run('retry', '--id', id)).toEqual({ retried: 1 });
    await jobs.untilNone();
    expect(greetings.runs).toMatchObject([{ text: 'hello', run: { id, attempt: 1 } }]);
    expect(await run('list', '--id', id)).toEqual([]);
  });

  it('lets no failed job run again while another one with its key waits', async () => {
    const id = await failedJob({ key: 'welcome' });
    await jobs.send('hello', { key: 'welcome', delay: '1h' });
    expect(await run('retry', '--name', 'acme.greet')).toEqual({ retried: 0 });
    expect(await run('list', '--name', 'acme.greet')).toMatchObject([{ id }]);
  });
});
