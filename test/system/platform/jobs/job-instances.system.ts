import { NestFactory } from '@nestjs/core';
import { readSettings } from '../../../../src/platform/config/settings.js';
import type { DatabaseTarget } from '../../../../src/platform/data/connection/data-source-options.js';
import { RecordRemoval } from '../../../../src/platform/data/records/record-removal.service.js';
import { OrganizationRemovalService } from '../../../../src/modules/auth/organization-removal.service.js';
import {
  GREET,
  greetings,
  GreetingsModule,
  StoredJobs,
} from '../../../support/modules/greetings.module.js';
import { JobsService } from '../../../../src/platform/jobs/jobs.service.js';
import { rootModule } from '../../../../src/app.module.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { createLead, dataOf, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { TEST_SETTINGS } from '../../../../src/testing/test-settings.mjs';
import { untilTrue } from '../../../support/mcp/mcp-helpers.js';

/** The database of two servers. */
let database: DatabaseTarget;
/** Declares no jobs. */
let bystander: TestApp;

beforeAll(async () => {
  database = await createDatabase();
  bystander = await TestApp.start({ database });
});
beforeEach(async () => {
  greetings.reset();
  await bystander.sql('delete from jobs');
});
afterEach(() => Promise.all(running.splice(0).map((app) => app.stop())));
afterAll(async () => {
  await bystander.stop();
  await dropDatabase(database);
});

/** The servers and commands of the current test. */
const running: { stop(): Promise<void> }[] = [];

const startServer = async () => {
  const server = await TestApp.start({ modules: [GreetingsModule], database });
  running.push(server);
  return server;
};
/** Starts the application as the command line does. */
const startCommand = async () => {
  const settings = { ...readSettings({ LOG_LEVEL: 'silent' }), ...TEST_SETTINGS };
  const root = rootModule({ settings, database, modules: [GreetingsModule] });
  const command = await NestFactory.createApplicationContext(root, { logger: false });
  running.push({ stop: () => command.close() });
  return command;
};

describe('with several instances', () => {
  it('each job runs once', async () => {
    const servers = await Promise.all([startServer(), startServer()]);
    const tenant = await bystander.organization();
    const sent = Array.from({ length: 30 }, (_, number) => String(number));
    await Promise.all(
      sent.map((text, number) => new StoredJobs(servers[number % 2]!, tenant.id).send(text)),
    );
    await new StoredJobs(bystander, tenant.id).untilNone();
    expect(greetings.texts.toSorted()).toEqual(sent.toSorted());
    expect(new Set(greetings.runs.map(({ instance }) => instance)).size).toBe(2);
  });

  it('another instance runs the job of an instance that was killed, when its lease ends', async () => {
    const killed = await startServer();
    const tenant = await bystander.organization();
    const jobs = new StoredJobs(bystander, tenant.id);
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    greetings.handle = (_, __, { attempt }) => (attempt === 1 ? ended : Promise.resolve());
    await new StoredJobs(killed, tenant.id).send('hello');
    await untilTrue(() => greetings.runs.length === 1);
    expect(await jobs.all()).toMatchObject([{ attempts: 1, delay: 0 }]);

    await startServer();
    await jobs.passTime();
    await jobs.untilNone();
    expect(greetings.runs.map(({ run }) => run.attempt)).toEqual([1, 2]);
    end();
  });

  it('a job whose process ended in every attempt fails without another run', async () => {
    const tenant = await bystander.organization();
    const jobs = new StoredJobs(bystander, tenant.id);
    const server = await startServer();
    await new StoredJobs(server, tenant.id).send('crashes', { delay: '1h' });
    await bystander.sql('update jobs set attempts = 3 where organization_id = $1', [tenant.id]);
    await jobs.passTime();
    expect(await jobs.untilFailed(4)).toMatchObject({ failed: true, last_error: 'ProcessEnded' });
    expect(greetings.runs).toEqual([]);
  });
});

describe('a stop', () => {
  it('waits for running jobs and leaves the others to other instances', async () => {
    const server = await startServer();
    const tenant = await server.organization();
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    greetings.handle = () => ended;
    for (const text of ['1', '2', '3']) await new StoredJobs(server, tenant.id).send(text);
    await untilTrue(() => greetings.runs.length === 2);
    const order: string[] = [];
    const stopped = running
      .pop()!
      .stop()
      .then(() => order.push('stopped'));
    setImmediate(() => {
      order.push('jobs ended');
      end();
    });
    await stopped;
    expect(order).toEqual(['jobs ended', 'stopped']);
    expect(greetings.texts.toSorted()).toEqual(['1', '2']);
    expect(await new StoredJobs(bystander, tenant.id).all()).toMatchObject([{ attempts: 0 }]);
  });
});

describe('a command', () => {
  it('can send jobs and never runs them', async () => {
    const tenant = await bystander.organization();
    const command = await startCommand();
    await command
      .get(JobsService)
      .send({ tenant: { id: tenant.id } }, GREET, { text: 'from a command' });
    await running.pop()!.stop();
    expect(greetings.runs).toEqual([]);
    await startServer();
    await new StoredJobs(bystander, tenant.id).untilNone();
    expect(greetings.texts).toEqual(['from a command']);
  });
});

describe('a removal', () => {
  const jobsOf = async (organization: string) =>
    (await new StoredJobs(bystander, organization).all()).length;

  it('of records by a purge also removes the jobs whose payload has their ids', async () => {
    const command = await startCommand();
    const tenant = await bystander.organization();
    const [purged, kept] = [await createLead(tenant.api), await createLead(tenant.api)];
    for (const { id: leadId } of [purged, kept]) {
      const greeting = { text: 'hello', leadId: leadId.toUpperCase() };
      await command.get(JobsService).send({ tenant: { id: tenant.id } }, GREET, greeting);
    }
    dataOf(await tenant.api.delete(`${LEADS}/${purged.id}`));
    await command
      .get(RecordRemoval)
      .purge({ tenant: { id: tenant.id } }, new Date(Date.now() + 60_000));
    const [job, ...others] = await bystander.sql<{ payload: { leadId: string } }>(
      'select payload from jobs where organization_id = $1',
      [tenant.id],
    );
    expect(others).toEqual([]);
    expect(job?.payload.leadId).toBe(kept.id.toUpperCase());
  });

  it('of an organization also removes its jobs', async () => {
    const command = await startCommand();
    const [removed, kept] = [await bystander.organization(), await bystander.organization()];
    for (const { id } of [removed, kept])
      await command.get(JobsService).send({ tenant: { id } }, GREET, { text: 'hello' });
    await command.get(OrganizationRemovalService).remove(removed.id);
    expect([await jobsOf(removed.id), await jobsOf(kept.id)]).toEqual([0, 1]);
  });
});
