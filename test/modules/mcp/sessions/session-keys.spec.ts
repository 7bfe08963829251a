import { randomUUID } from 'node:crypto';
import {
  sessionHeader,
  type McpHttpClient,
  rpcNotification,
  rpcRequest,
} from '../../../../src/testing/mcp-client.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  expectAlive,
  expectRefusal,
  FOREIGN_ORIGIN,
  LIST_CHANGED,
  MCP,
  mcpHelpers,
  METHODS,
  SEND,
  untilTrue,
  VERSION_WITH_BATCHES,
} from '../../../support/mcp/mcp-helpers.js';
import { captureLog } from '../../../support/captured-log.js';
import { openSessions } from '../../../support/mcp/open-sessions.js';
import { until } from '../../../support/servers/product.js';

let app: TestApp;
let tenant: Tenant;
let mcp: McpHttpClient;
const { callerOf, callerWithoutKey, start, stopAll } = mcpHelpers(() => app);
const { sessionOf } = openSessions(() => app);

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  mcp = callerOf(tenant);
});
afterAll(() => stopAll());

describe('the revocation and the expiry of a key', () => {
  /** Opens a stream, calls `end` and expects the end of the session. Returns the time at which the stream ended. */
  async function endOf(owner: Tenant, end: () => Promise<unknown>): Promise<number> {
    const caller = callerOf(owner);
    const session = await caller.openSession();
    const stream = await caller.openStream(session);
    await stream.next();
    expectRefusal(await SEND.GET(mcp, session), 403, 'session_mismatch');
    await end();
    expect(await stream.next()).toBeUndefined();
    const endedAt = Date.now();
    // A session that still existed would be a session_mismatch.
    expectRefusal(await SEND.GET(mcp, session), 400, 'no_session');
    for (const method of METHODS) {
      await until(async () => (await SEND[method](caller, session)).status === 401);
    }
    return endedAt;
  }

  it('end the stream and the session of a revoked key, and no others', async () => {
    const [owner, other] = await Promise.all([app.key(tenant.id), app.key(tenant.id)]);
    const kept = await callerOf(other).openSession('2025-06-18');
    const stream = await callerOf(other).openStream(kept);
    await endOf(owner, () => app.revoke(owner));
    await expectAlive(callerOf(other), kept);
    sessionOf(kept)!.notify(LIST_CHANGED.method);
    expect(await stream.nextMessage()).toEqual({ id: '1', message: LIST_CHANGED });
    await callerOf(other).delete(kept);
    expect(await stream.next()).toBeUndefined();
  });

  it('end the stream and the session of a key when it expires', async () => {
    const owner = await app.key(tenant.id);
    let expiresAt: Date | undefined;
    // Set after the stream is open, so that the key cannot expire before.
    const endedAt = await endOf(owner, async () => {
      const [key] = await app.sql<{ expires_at: Date }>(
        `update api_keys set expires_at = now() + interval '1 second' where id = $1
         returning expires_at`,
        [owner.key.id],
      );
      expiresAt = key!.expires_at;
    });
    expect(endedAt).toBeGreaterThanOrEqual(expiresAt!.getTime());
  });
});

describe('the log of MCP requests', () => {
  let logging: TestApp;
  const lines = captureLog('trace');

  beforeAll(async () => {
    logging = await start({ logLevel: 'trace', mcpMaxSessions: 2 });
  });

  it('contains neither session ids nor keys', async () => {
    const other = await logging.organization();
    const owner = callerOf(tenant, logging);
    const revoked = await logging.key(tenant.id);
    const session = await owner.openSession(VERSION_WITH_BATCHES);
    const theirs = await callerOf(revoked, logging).openSession();
    const named = sessionHeader(session);
    const stream = await owner.openStream(session);
    await SEND.GET(owner, theirs);
    const answers = [
      await owner.rpc(session, 'ping'),
      await owner.rpc(session, 'tools/call', { name: 'get_lead', arguments: { id: session } }),
      await owner.rpc(session, 'nothing/here', { session }),
      await owner.post([rpcRequest('ping'), rpcNotification('x')], named),
      await owner.post('{', named),
      await owner.request('POST', { path: `${MCP}?s=${session}`, body: rpcRequest('ping') }),
      await owner.request('GET', { path: `${MCP}/${session}`, headers: named }),
      await owner.request('GET', { headers: { ...named, 'Last-Event-ID': session } }),
      await SEND.POST(callerOf(other, logging), session),
      await SEND.DELETE(owner, randomUUID()),
      await owner.initialize(),
      await owner.initialize({}, FOREIGN_ORIGIN),
      await SEND.POST(callerWithoutKey(logging), session),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 400, 400, 404, 400, 403, 404, 503, 403, 401,
    ]);
    await logging.revoke(revoked);
    await untilTrue(() => sessionOf(theirs, logging) === undefined);
    await owner.delete(session);
    expect(await stream.next()).toBeUndefined();

    const requests = () => lines.filter((line) => line.includes('"msg":"request"')).length;
    // With the two that opened a session, the refused GET, the stream and the DELETE.
    await untilTrue(() => requests() === answers.length + 5);
    const text = lines.join('');
    expect(text).toContain('"route":"/mcp"');
    const secrets = [session, theirs, ...[tenant, other, revoked].map(({ key }) => key.key)];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toContain(tenant.key.key.slice(8));
  });
});
