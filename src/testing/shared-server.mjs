// The server that suites share, and an address at which they create organizations and keys.
import http from 'node:http';
import { createApp } from '../../dist/src/app.js';
import { KeysService } from '../../dist/src/auth/keys.service.js';
import { readSettings } from '../../dist/src/config/settings.js';
import { TEST_SETTINGS } from './test-settings.mjs';

/** Starts the server on a database that is migrated. */
export async function startSharedServer(database) {
  const settings = { ...readSettings({ LOG_LEVEL: 'silent' }), ...TEST_SETTINGS };
  const app = await createApp({ settings, database });
  await app.listen(0, '127.0.0.1');
  const keys = await serveMethods(app.get(KeysService));
  const urlOf = (server) => `http://127.0.0.1:${server.address().port}`;
  return {
    description: { url: urlOf(app.getHttpServer()), keysUrl: urlOf(keys), database },
    async stop() {
      keys.close();
      app.getHttpServer().closeAllConnections();
      await app.close();
    },
  };
}

/** Serves `POST /<method>`, whose body is the list of arguments. */
async function serveMethods(service) {
  const server = http.createServer(async (request, response) => {
    try {
      const chunks = await request.toArray();
      const args = JSON.parse(Buffer.concat(chunks).toString());
      response.end(JSON.stringify(await service[request.url.slice(1)](...args)));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return server;
}
