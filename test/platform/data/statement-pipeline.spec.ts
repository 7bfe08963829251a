import { EventEmitter } from 'node:events';
import pg from 'pg';
import {
  PATIENT_WAIT_MS,
  setUpConnection,
} from '../../../src/platform/data/connection/data-source-options.js';
import {
  destroyConnection,
  ResilientClient,
} from '../../../src/platform/data/connection/resilient-client.js';
import {
  type ContextStatement,
  LostConnectionError,
  StatementPipeline,
} from '../../../src/platform/data/connection/statement-pipeline.js';
import { configOf, createDatabase, dropDatabase } from '../../../src/testing/databases.js';
import { until } from '../../support/servers/product.js';

let database: Awaited<ReturnType<typeof createDatabase>>;
let client: pg.Client;

beforeAll(async () => {
  database = await createDatabase();
});
beforeEach(async () => {
  client = new ResilientClient(configOf(database));
  await client.connect();
});
afterEach(() => client.end());
afterAll(() => dropDatabase(database));

function run<Row>(
  text: string,
  executions: readonly (readonly unknown[])[],
  { name = '', context }: { name?: string; context?: ContextStatement } = {},
) {
  const contexts = context ? [context] : [];
  const pipeline = new StatementPipeline<Row>([
    { contexts, statement: { name, text }, executions },
  ]);
  client.query(pipeline);
  const result = pipeline.result.then((parts) => parts.flat());
  return { result, contextRow: () => pipeline.contextRow };
}

it.each<[string, unknown, string, unknown]>([
  ['null', null, 'text', null],
  ['a string', `O'Neil \\ "x"`, 'text', `O'Neil \\ "x"`],
  ['a number', 1.5, 'float8', 1.5],
  ['a boolean', true, 'boolean', true],
  ['a list', ['a', null, 'b "c" \\ {d,e}', ''], 'text[]', ['a', null, 'b "c" \\ {d,e}', '']],
  ['nested lists', [[1], [2]], 'int[]', [[1], [2]]],
  ['an object', { a: [1, null] }, 'jsonb', { a: [1, null] }],
  ['bytes', Buffer.from([0, 255]), 'bytea', Buffer.from([0, 255])],
  ['a list of bytes', [Buffer.from([0, 255])], 'bytea[]', [Buffer.from([0, 255])]],
  ['a time', new Date('1850-01-01Z'), 'timestamptz', new Date('1850-01-01Z')],
  ['times', [new Date('-000043-03-15Z')], 'timestamptz[]', [new Date('-000043-03-15Z')]],
])('sends and reads %s', async (_, value, type, expected) => {
  const { result } = run<{ v: unknown }>(`select $1::${type} as v`, [[value]]);
  expect(await result).toEqual([{ v: expected }]);
});

it('returns the rows of all executions, in one transaction with its context', async () => {
  const context = {
    name: 'context',
    text: `select set_config('work_mem', $1, true), txid_current()`,
    values: ['777kB'],
  };
  const text = `select $1::int as n, current_setting('work_mem') as memory, txid_current()::text as id`;
  const pipeline = run<{ id: string }>(text, [[1], [2]], { name: 'numbers', context });
  const rows = await pipeline.result;
  const [memory, id] = pipeline.contextRow();
  expect({ memory, rows }).toEqual({
    memory: '777kB',
    rows: [
      { n: 1, memory, id },
      { n: 2, memory, id },
    ],
  });
  expect((await client.query('show work_mem')).rows).not.toEqual([{ work_mem: '777kB' }]);
});

it('prepares a statement again if its first execution or its transaction failed', async () => {
  const text = 'select 1 / $1::int as n';
  const byZero = run(text, [[0]], { name: 'division' });
  await expect(byZero.result).rejects.toThrow('division by zero');
  expect(await run(text, [[1]], { name: 'division' }).result).toEqual([{ n: 1 }]);
  expect(await run(text, [[1], [1]], { name: 'division' }).result).toEqual([{ n: 1 }, { n: 1 }]);
  const { rows } = await client.query(`select name from pg_prepared_statements`);
  expect(rows).toEqual([{ name: 'division' }]);
});

it('returns the rows of each part, which has the settings of its contexts', async () => {
  const contextOf = (name: string, value: string) => {
    return { name, text: `select set_config('app.part', $1, true)`, values: [value] };
  };
  const text = `select $1::int as n, current_setting('app.part') as part`;
  const statement = { name: 'part', text };
  const pipeline = new StatementPipeline([
    { contexts: [contextOf('first', 'a')], statement, executions: [[1], [2]] },
    { contexts: [contextOf('', 'lost'), contextOf('', 'b')], statement, executions: [[3]] },
    { contexts: [], statement: { name: '', text: 'select 4 as m where false' }, executions: [[]] },
  ]);
  client.query(pipeline);
  expect(await pipeline.result).toEqual([
    [
      { n: 1, part: 'a' },
      { n: 2, part: 'a' },
    ],
    [{ n: 3, part: 'b' }],
    [],
  ]);
});

it('rolls back all executions if one fails', async () => {
  await client.query('create temporary table numbers (n int primary key)');
  const failed = run('insert into numbers values ($1)', [[1], [2], [1]]);
  await expect(failed.result).rejects.toThrow('duplicate key');
  expect((await client.query('select n from numbers')).rows).toEqual([]);
});

it('returns no rows for an empty statement', async () => {
  expect(await run('', [[]]).result).toEqual([]);
});

it.each(['copy numbers from stdin', 'copy numbers to stdout'])('rejects %s', async (text) => {
  await client.query('create temporary table numbers (n int)');
  await client.query('insert into numbers values (1)');
  await expect(run(text, [[]]).result).rejects.toThrow('COPY needs a client of its own.');
});

/** Reports an error of PostgreSQL to a statement, on a connection without a server. */
function reportError(properties: Partial<pg.DatabaseError>) {
  const connection = new EventEmitter() as pg.Connection;
  const statement = { name: '', text: 'select 1' };
  const pipeline = new StatementPipeline([{ contexts: [], statement, executions: [[]] }]);
  const rejected = jest.fn<undefined, [unknown]>();
  const ended = pipeline.result.catch(rejected);
  const error = new pg.DatabaseError('for a test', 0, 'error');
  pipeline.handleError(Object.assign(error, properties), connection);
  return { connection, ended, rejected };
}

it.each([
  ['22012', 'ERROR', pg.DatabaseError],
  ['22012', 'FEHLER', pg.DatabaseError],
  ['57P01', 'FATAL', LostConnectionError],
  ['57P01', 'SCHWERWIEGEND', LostConnectionError],
])('rejects after SQLSTATE %s with severity %s, in any language', async (code, severity, type) => {
  const { connection, ended, rejected } = reportError({ code, severity });
  connection.emit('readyForQuery');
  await ended;
  expect(rejected.mock.calls).toEqual([[expect.any(type)]]);
});

it.each(['readyForQuery', 'end'])(
  'rejects after an error when PostgreSQL has ended the transaction (%s), and not earlier',
  async (event) => {
    const { connection, ended, rejected } = reportError({ code: '23505', severity: 'ERROR' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(rejected).not.toHaveBeenCalled();
    connection.emit(event);
    await ended;
    expect(rejected.mock.calls).toEqual([[expect.objectContaining({ code: '23505' })]]);
    expect(connection.eventNames()).toEqual([]);
  },
);

it('rejects if the connection is lost', async () => {
  const { result } = run('select pg_sleep(60)', [[]]);
  destroyConnection(client);
  await expect(result).rejects.toThrow('Connection terminated');
});

it('is rolled back if the connection is lost while it runs', async () => {
  const observer = new pg.Client(configOf(database));
  await observer.connect();
  const count = async (text: string) => (await observer.query(text)).rows.length;
  const runningSql = `select from pg_stat_activity where query like 'insert into lost_writes%'`;
  await setUpConnection(PATIENT_WAIT_MS)(client);
  await observer.query('create table lost_writes (n int)');
  const { result } = run('insert into lost_writes select 1 from pg_sleep(30)', [[]]);
  await until(async () => (await count(runningSql)) === 1);
  destroyConnection(client);
  await expect(result).rejects.toThrow('Connection terminated');
  await until(async () => (await count(runningSql)) === 0);
  expect(await count('select from lost_writes')).toBe(0);
  await observer.end();
});
