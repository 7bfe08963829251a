import { ApiClient } from '../../src/testing/api-client.js';
import {
  FIRST_KEY,
  Product,
  type RunningServer,
  UNLIMITED,
  until,
} from '../support/servers/product.js';
import { FeedReader } from './support/feed-reader.js';
import { WriteLog } from './support/write-log.js';

/** Every round continues with the data that the previous kill left. */
const MIN_ROUNDS = 3;
const ROUNDS = Math.max(MIN_ROUNDS, Number(process.env.FAULTS_ROUNDS));

const WRITERS = 10;
const WRITES_OF_A_ROUND = 200;

const product = new Product(UNLIMITED);
afterAll(() => product.remove());

it('kill -9 of the whole process group under ten writers', async () => {
  let server = await product.start();
  const key = server.printed(FIRST_KEY)!;
  const feed = new FeedReader();
  let writes = 0;
  let slowest = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const writeLog = await writeUntilKilled(server, key);
    writes += writeLog.acknowledged;
    const started = performance.now();
    server = await product.start();
    slowest = Math.max(slowest, performance.now() - started);
    const api = new ApiClient(server.url, key);
    await writeLog.expectConsistent(api);
    await feed.readOn(api);
    await feed.expectComplete(api);
  }
  expect(await server.stop()).toBe(0);
  process.stdout.write(
    `kill -9: ${ROUNDS} times, ${writes} acknowledged writes, none lost, none doubled; ` +
      `${feed.ids.length} events, one for each lead; ` +
      `running again after ${Math.round(slowest)} ms at most\n`,
  );
});

/** Runs ten writers until the process group is killed. */
async function writeUntilKilled(server: RunningServer, key: string): Promise<WriteLog> {
  const api = new ApiClient(server.url, key);
  const writeLog = new WriteLog();
  const writer = async (_: unknown, n: number) => {
    const writes = [writeLog.idempotentCreator(api), writeLog.batchCreator(api)];
    const write = writes[n % 3] ?? (() => writeLog.create(api));
    while (!server.hasEnded) await write().catch(() => undefined);
  };
  const writers = Array.from({ length: WRITERS }, writer);
  await until(() => Promise.resolve(writeLog.acknowledged > WRITES_OF_A_ROUND));
  server.signalGroup('SIGKILL');
  await Promise.all([server.ended, ...writers]);
  return writeLog;
}
