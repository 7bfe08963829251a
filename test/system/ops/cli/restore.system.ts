import type { DatabaseTarget } from '../../../../src/platform/data/connection/data-source-options.js';
import { JobsService } from '../../../../src/platform/jobs/jobs.service.js';
import { createDatabase, dropDatabase, urlOf } from '../../../../src/testing/databases.js';
import { createLead, dataOf } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { latitude, runCommand } from '../../../support/command-line.js';
import { backUp } from '../../../support/database/backups.js';
import { stopBackgroundWork } from '../../../support/database/isolation.js';
import { type ImportRecord, IMPORTS, sendFile, untilEnded } from '../../../support/lead-imports.js';
import { GREET, greetings, GreetingsModule } from '../../../support/modules/greetings.module.js';
import { until } from '../../../support/servers/product.js';
import { WebhookReceiver } from '../../../support/servers/webhook-receiver.js';
import {
  createWebhook,
  deliveriesOf,
  WEBHOOKS,
  type WebhookRecord,
} from '../../../support/webhooks.js';

interface Held {
  readonly id: string;
  readonly organization_id: string;
  readonly resume: string;
}

interface Restored {
  readonly webhooks_paused?: Held[];
  readonly imports_cancelled?: Held[];
  readonly jobs_held?: { readonly name: string; readonly jobs: number; readonly resume: string }[];
}

const MISSED = '2020-01-01T00:00:00.000Z';
const SERVER = {
  modules: [GreetingsModule],
  settings: { webhooksAllowPrivateTargets: true },
};

/** A server whose background work has stopped, with a webhook, an import, a job and a schedule that wait. */
describe('a restored copy', () => {
  let receiver: WebhookReceiver;
  let tenant: Tenant;
  let file: string;
  let webhook: WebhookRecord;
  let disabled: WebhookRecord;
  let waiting: ImportRecord;
  let copy: DatabaseTarget;
  let env: Record<string, string>;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    const source = await TestApp.start(SERVER);
    tenant = await source.organization();
    await stopBackgroundWork(source);
    webhook = await createWebhook(tenant, receiver.url(), { types: ['lead.created'] });
    disabled = await createWebhook(tenant, receiver.url(), { enabled: false });
    await createLead(tenant.api, { first_name: 'Ada' });
    waiting = dataOf<ImportRecord>(await sendFile(tenant.api, 'first_name\nGrace\n', CREATE), 202);
    await source.app.get(JobsService).send({ tenant }, GREET, { text: 'of the backup' });
    await source.sql(`update job_schedules set next_run_at = '${MISSED}'`);
    ({ file } = await backUp(source.database));
    await source.stop();
  });
  beforeEach(async () => {
    greetings.reset();
    receiver.received.length = 0;
    copy = await createDatabase('empty');
    env = { DATABASE_URL: urlOf(copy) };
  });
  afterEach(() => dropDatabase(copy));
  afterAll(() => receiver.stop());

  const CREATE = { mode: 'create_only' };
  const restore = (...options: string[]) => latitude<Restored>(env, 'restore', ...options, file);
  const run = (command: string) => latitude(env, ...command.split(' ').slice(1));

  async function readAll(app: TestApp) {
    const api = app.client(tenant.key.key);
    return {
      webhook: dataOf<WebhookRecord>(await api.get(`${WEBHOOKS}/${webhook.id}`)),
      disabled: dataOf<WebhookRecord>(await api.get(`${WEBHOOKS}/${disabled.id}`)),
      waiting: dataOf<ImportRecord>(await api.get(`${IMPORTS}/${waiting.id}`)),
      restored: { ...tenant, api },
    };
  }

  async function schedules(app: TestApp): Promise<string[]> {
    const rows = await app.sql<{ next: Date }>('select next_run_at as next from job_schedules');
    return rows.map(({ next }) => next.toISOString());
  }

  it('has paused webhooks, cancelled imports and held jobs, which continue with the commands that the restore prints', async () => {
    const held = await restore();
    const ids = { organization_id: tenant.id };
    expect(held).toMatchObject({
      webhooks_paused: [{ ...ids, id: webhook.id, url: webhook.url }],
      imports_cancelled: [{ ...ids, id: waiting.id }],
      jobs_held: [{ name: 'acme.greet', jobs: 1 }],
    });
    const app = await TestApp.start({ ...SERVER, database: copy });
    const stored = await readAll(app);
    expect(stored.webhook).toMatchObject({ enabled: false, disabled_reason: 'restored' });
    expect(stored.disabled).toMatchObject({ enabled: false, disabled_reason: null });
    expect(stored.waiting).toMatchObject({ status: 'cancelled', processed: 0 });
    expect(stored.waiting.error).toContain('Import its file again');
    expect(await schedules(app)).not.toContain(MISSED);

    // The change of the original waits in the paused webhook, and the job of the original among those that failed.
    await until(async () => (await deliveriesOf(stored.restored, webhook.id)).length === 1);
    await app.app.get(JobsService).send({ tenant }, GREET, { text: 'of the copy' });
    await until(() => Promise.resolve(greetings.texts.length > 0));
    expect(greetings.texts).toEqual(['of the copy']);
    expect(receiver.received).toEqual([]);

    await run(held.jobs_held![0]!.resume);
    await until(() => Promise.resolve(greetings.texts.includes('of the backup')));
    await run(held.webhooks_paused![0]!.resume);
    await until(() => Promise.resolve(receiver.at(webhook.url).length === 1));
    expect((await readAll(app)).webhook).toMatchObject({ enabled: true, disabled_reason: null });
    await app.stop();
  });

  it('continues all of them with --resume', async () => {
    const held = await restore('--resume');
    for (const name of ['webhooks_paused', 'imports_cancelled', 'jobs_held']) {
      expect(held).not.toHaveProperty(name);
    }
    const app = await TestApp.start({ ...SERVER, database: copy });
    const { restored, ...stored } = await readAll(app);
    expect(stored.webhook).toMatchObject({ enabled: true, disabled_reason: null });
    expect(await untilEnded(restored.api, waiting.id)).toMatchObject({
      status: 'completed',
      created: 1,
    });
    await until(() => Promise.resolve(greetings.texts.includes('of the backup')));
    await until(() => Promise.resolve(receiver.at(webhook.url).length === 2));
    await app.stop();
  });

  it('is told to people in lines, with the commands', async () => {
    const { stdout } = await runCommand(['restore', file], env);
    expect(stdout).toContain('\nwebhooks_paused:\n');
    expect(stdout).toContain(
      `\tlatitude webhooks enable --organization ${tenant.id} ${webhook.id}\n`,
    );
    expect(stdout).toContain('\nimports_cancelled:\n');
    expect(stdout).toContain(
      '\njobs_held:\nname\tjobs\tresume\nacme.greet\t1\tlatitude jobs retry --name acme.greet\n',
    );
  });

  it('keeps the schedules of a server that runs on the empty database', async () => {
    await run('latitude migrate');
    const app = await TestApp.start({ ...SERVER, database: copy });
    const before = await schedules(app);
    await restore();
    const after = await schedules(app);
    expect(after).toHaveLength(before.length);
    expect(after).not.toContain(MISSED);
    await app.stop();
  });
});
