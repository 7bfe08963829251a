import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { dataOf } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { untilTrue } from '../../support/mcp/mcp-helpers.js';
import {
  createWebhook,
  deliveriesOf,
  publish,
  untilDeliveries,
  WEBHOOKS,
} from '../../support/webhooks.js';

const RECEIVER = path.resolve(__dirname, '../../../examples/webhook-receiver/receiver.mjs');

let app: TestApp;
let receiver: ChildProcess | undefined;
let output = '';

beforeAll(async () => {
  app = await TestApp.start({ settings: { webhooksAllowPrivateTargets: true } });
});
afterAll(() => {
  receiver?.kill();
  return app.stop();
});

/** Starts the example and returns its URL. */
async function startReceiver(secret: string): Promise<string> {
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' };
  receiver = spawn(process.execPath, [RECEIVER], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  receiver.stdout!.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await untilTrue(() => output.includes('listening'));
  return `http://localhost:${/port (\d+)/.exec(output)![1]}/`;
}

describe('examples/webhook-receiver', () => {
  it('accepts events that are signed with its secret, and refuses others', async () => {
    const tenant = await app.organization();
    const { id, secret } = await createWebhook(tenant, 'https://receiver.invalid/');
    const url = await startReceiver(secret);
    dataOf(await tenant.api.put(`${WEBHOOKS}/${id}`, { url }));
    const event = {
      id: '1',
      type: 'lead.updated',
      record: { id: '7' },
      changed: ['email', 'city'],
    };
    await publish(app, tenant, { body: JSON.stringify(event) });
    await untilDeliveries(tenant, id, ([one]) => one?.status === 'succeeded');
    await untilTrue(() => output.includes('lead.updated 7 email city'));

    const stranger = await createWebhook(tenant, url);
    dataOf(await tenant.api.post(`${WEBHOOKS}/${stranger.id}/test`, undefined), 202);
    await untilDeliveries(tenant, stranger.id, ([one]) => one?.status === 'failed');
    expect(await deliveriesOf(tenant, stranger.id)).toMatchObject([
      { response_status: 401, response_body: 'wrong signature' },
    ]);
  });
});
