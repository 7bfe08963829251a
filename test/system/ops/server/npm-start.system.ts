import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Product, type RunningServer, until } from '../../../support/servers/product.js';

const ROOT = path.resolve(__dirname, '../../../..');
const STOPPED = /"msg":"Latitude has stopped"\}\n$/;

/** Standard output is complete when every process that writes to it has ended. */
async function expectStopped(product: Product, server: RunningServer): Promise<void> {
  expect(server.stdout).toMatch(STOPPED);
  expect(server.stderr).toBe('');
  expect(existsSync(path.join(product.dataDir, 'data/postgres/postmaster.pid'))).toBe(false);
  if (server.url !== '') {
    await expect(fetch(`${server.url}/health/live`)).rejects.toThrow('fetch failed');
  }
}

describe('npm start', () => {
  const product = new Product();
  afterAll(() => product.remove());

  it.each([
    ['SIGTERM to npm', 0, 'signal', 'SIGTERM'],
    // npm passes the signal on, so that the server receives it twice.
    ['Ctrl+C in a terminal', 0, 'signalGroup', 'SIGINT'],
    ['SIGKILL to npm', null, 'signal', 'SIGKILL'],
  ] as const)('ends the server and PostgreSQL on %s', async (_, code, method, signal) => {
    const npm = await product.startWithNpm();
    npm[method](signal);
    expect(await npm.ended).toBe(code);
    await expectStopped(product, npm);
  });

  it.each(['package.json', 'templates/extension/package.json', 'examples/messages/package.json'])(
    'replaces the shell of npm by the process, in %s',
    (file) => {
      const { scripts } = JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as {
        scripts: Record<string, string>;
      };
      expect(scripts.start).toMatch(/^exec node \S+$/);
      expect(scripts.latitude).toMatch(/^exec node \S+$/);
    },
  );
});

describe('a stop signal while PostgreSQL is created', () => {
  it('ends the process with 0 and leaves nothing half done', async () => {
    const product = new Product();
    const server = product.spawnServer();
    const folder = path.join(product.dataDir, 'data');
    const incomplete = () => existsSync(folder) && readdirSync(folder).some(isIncomplete);
    await until(() => Promise.resolve(incomplete()));
    expect(await server.stop()).toBe(0);
    await expectStopped(product, server);
    expect(incomplete()).toBe(false);
    await product.remove();
  });
});

function isIncomplete(name: string): boolean {
  return name.startsWith('postgres.init-');
}
