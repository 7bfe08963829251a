import { TestApp } from '../../src/testing/test-app.js';
import { TestServer } from '../../src/testing/test-server.js';
import { SignInServer } from '../support/oauth/sign-in-server.js';
import { WebhookReceiver } from '../support/servers/webhook-receiver.js';

/** Starts a server and returns its URL and how it is stopped. */
type Start = () => Promise<{ url: string; stop: () => unknown }>;

const SERVERS: Readonly<Record<string, Start>> = {
  'the shared server': () => TestServer.shared(),
  'a server of a suite': () => TestApp.start(),
  'a server with sign-in, behind its proxy': () => SignInServer.start(),
  'a receiver of webhooks': async () => {
    const receiver = await WebhookReceiver.start();
    return { url: receiver.url(), stop: () => receiver.stop() };
  },
};

// Otherwise a request that is sent at the end of a connection would fail with ECONNRESET on a busy machine.
it.each(Object.entries(SERVERS))('%s announces no end of an idle connection', async (_, start) => {
  const server = await start();
  const { headers } = await fetch(server.url);
  expect(headers.get('connection')).toBe('keep-alive');
  expect(headers.get('keep-alive')).toBeNull();
  await server.stop();
});
