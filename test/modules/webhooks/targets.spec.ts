import { randomUUID } from 'node:crypto';
import { dataOf } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { OutgoingRequests } from '../../../src/platform/outgoing/outgoing-requests.js';
import { WebhookReceiver } from '../../support/servers/webhook-receiver.js';
import {
  createWebhook,
  expectInvalid,
  publish,
  untilDeliveries,
  WEBHOOKS,
} from '../../support/webhooks.js';

let app: TestApp;
let receiver: WebhookReceiver;
let tenant: Tenant;

/** The addresses of every name in the current test, and the names whose addresses were asked for. */
const names = {
  addresses: [] as { address: string; family: number }[],
  asked: [] as string[],
  resolve: (host: string) => {
    names.asked.push(host);
    return Promise.resolve(names.addresses);
  },
};

beforeAll(async () => {
  [app, receiver] = await Promise.all([TestApp.start(), WebhookReceiver.start()]);
  jest
    .spyOn(app.app.get(OutgoingRequests, { strict: false }), 'resolve')
    .mockImplementation(names.resolve);
});
beforeEach(async () => {
  names.addresses = [];
  names.asked = [];
  tenant = await app.organization();
});
afterAll(() => Promise.all([app.stop(), receiver.stop()]));

describe('an IP address or a name of this machine as a target', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1:8080/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://192.0.0.192/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[2002:a00:1::]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[ff02::1]/',
    'http://[::127.0.0.1]/',
    'http://[::a9fe:a9fe]/',
    'http://[64:ff9b:1::10.0.0.1]/',
    'http://168.63.129.16/',
    'http://localhost:5678/hook',
    'http://LOCALHOST./',
    'http://n8n.localhost/',
  ])('is refused if it is private: %s', async (url) => {
    const refused = await tenant.api.post(WEBHOOKS, { url, types: ['lead.updated'] });
    expectInvalid(refused, 'url must not have a private address');
  });

  it('is refused in an update if it is private', async () => {
    const { id } = await createWebhook(tenant, 'https://example.com/');
    const refused = await tenant.api.put(`${WEBHOOKS}/${id}`, { url: 'http://10.0.0.1/' });
    expectInvalid(refused, 'url must not have a private address');
  });

  it('is accepted if it is public', async () => {
    await createWebhook(tenant, 'https://93.184.215.14/hook');
    await createWebhook(tenant, 'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/hook');
  });
});

describe('a host name as a target', () => {
  const failureOf = async (url: string) => {
    const { id } = await createWebhook(tenant, url);
    await publish(app, tenant);
    const [failed] = await untilDeliveries(tenant, id, ([one]) => one?.attempts === 1);
    return failed!.error;
  };

  it.each([
    ['of this machine', [{ address: '127.0.0.1', family: 4 }]],
    [
      'with a public and a private address',
      [
        { address: '93.184.215.14', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ],
    ],
    ['with a mapped address', [{ address: '::ffff:127.0.0.1', family: 6 }]],
  ])('%s gets no request', async (_, addresses) => {
    names.addresses = addresses;
    const host = `${randomUUID()}.example`;
    const url = receiver.url(host);
    expect(await failureOf(url)).toBe('The host has an address that is not public.');
    // The deliveries of other tests are attempted again meanwhile.
    expect(names.asked.filter((asked) => asked === host)).toHaveLength(1);
    expect(receiver.at(url)).toEqual([]);
  });

  it('without an address makes the delivery fail', async () => {
    expect(await failureOf('https://unknown.example/')).toBe('The host has no address.');
  });
});

describe('a stored private address', () => {
  it('gets no request when private targets are no longer allowed', async () => {
    const { id } = await createWebhook(tenant, 'https://example.com/');
    const url = receiver.url();
    await app.sql('update webhooks set url = $2 where id = $1', [id, url]);
    await publish(app, tenant);
    const [failed] = await untilDeliveries(tenant, id, ([one]) => one?.attempts === 1);
    expect(failed!.error).toBe('The host has an address that is not public.');
    expect(receiver.at(url)).toEqual([]);
  });
});

describe('WEBHOOKS_ALLOW_PRIVATE_TARGETS=on', () => {
  it('sends to names of this machine', async () => {
    const open = await TestApp.start({ settings: { webhooksAllowPrivateTargets: true } });
    const owner = await open.organization();
    const { id } = await createWebhook(owner, receiver.url('localhost'));
    dataOf(await owner.api.post(`${WEBHOOKS}/${id}/test`, undefined), 202);
    await untilDeliveries(owner, id, ([one]) => one?.status === 'succeeded');
    await open.stop();
  });
});
