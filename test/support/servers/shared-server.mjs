/**
 * The server that suites share, in a separate process, and an address at which suites create organizations
 * and keys. The parent process sends its database and environment variables.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { createApp } from '../../../dist/src/app.js';
import { KeysService } from '../../../dist/src/modules/auth/keys.service.js';
import { ORDINARY_SCOPES, SCOPES } from '../../../dist/src/platform/access/scopes.js';
import { setLogLevel } from '../../../dist/src/platform/config/logger.js';
import { readSettings } from '../../../dist/src/platform/config/settings.js';
import { UnlimitedTimeBudget } from '../../../dist/src/platform/data/gateway/policies.js';
import { TEST_SETTINGS } from '../../../src/testing/test-settings.mjs';

const [{ database, environment }] = await once(process, 'message');
const settings = {
  ...readSettings({ LOG_LEVEL: 'error', ...environment }),
  ...TEST_SETTINGS,
  // So many that suites can export at the same time.
  databaseMaxConnections: 20,
};
setLogLevel(settings.logLevel);
// On a busy machine, a statement may take longer than a server allows it.
const app = await createApp({ settings, database, timeBudget: new UnlimitedTimeBudget() });
await app.listen(0, '127.0.0.1');
// The suites close connections that are idle. A request that meets the end of a connection would fail.
app.getHttpServer().keepAliveTimeout = 0;
const service = app.get(KeysService);
const keys = await serveMethods({
  createOrganization: (...args) => service.createOrganization(...args),
  createKey: (...args) => service.createKey(...args),
  revoke: (...args) => service.revoke(...args),
  createOrganizations,
});
process.on('disconnect', async () => {
  keys.close();
  app.getHttpServer().closeAllConnections();
  await app.close();
  process.exit();
});
const scopes = { every: SCOPES, ordinary: ORDINARY_SCOPES };
process.send({ url: urlOf(app.getHttpServer()), keysUrl: urlOf(keys), scopes, database });

function urlOf(server) {
  return `http://127.0.0.1:${server.address().port}`;
}

/** Creates organizations with a key each. */
function createOrganizations(count) {
  const create = async () => {
    const { id: organizationId } = await service.createOrganization(`Organization ${randomUUID()}`);
    return service.createKey({ organizationId, name: 'k', scopes: ORDINARY_SCOPES });
  };
  return Promise.all(Array.from({ length: count }, create));
}

/** Serves `POST /<method>`, whose body is the list of arguments. */
async function serveMethods(methods) {
  const server = http.createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    try {
      const chunks = await request.toArray();
      const args = JSON.parse(Buffer.concat(chunks).toString());
      response.end(JSON.stringify(await methods[request.url.slice(1)](...args)));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
