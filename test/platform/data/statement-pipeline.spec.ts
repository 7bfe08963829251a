import { EventEmitter } from 'node:events';
import pg from 'pg';
import {
  PATIENT_WAIT_MS,
  setUpConnection,
} from '../../../src/platform/data/connection/data-source-options.js';
import {
  destroyConnection,
  ResilientClient,
} from '../../../src/platform/data/connection/driver-pool.js';
import {
  LostConnectionError,
  type PipelineStatement,
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
  { name = '', setting }: { name?: string; setting?: PipelineStatement } = {},
) {
  const pipeline = new StatementPipeline<Row>([
    ...(setting ? [setting] : []),
    ...executions.map((values) => ({ name, text, values })),
  ]);
  client.query(pipeline);
  return { result: pipeline.result.then((rows) => rows.flat()) };
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

it('returns the rows of all statements, in one transaction with its settings', async () => {
  const setting = {
    name: 'setting',
    text: `select set_config('work_mem', $1, true) as memory, txid_current()::text as id`,
    values: ['777kB'],
  };
  const text = `select $1::int as n, current_setting('work_mem') as memory, txid_current()::text as id`;
  const rows = await run<{ id: string }>(text, [[1], [2]], { name: 'numbers', setting }).result;
  const { id } = rows[0]!;
  const memory = '777kB';
  expect(rows).toEqual([
    { memory, id },
    { n: 1, memory, id },
    { n: 2, memory, id },
  ]);
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

it('returns the rows of each statement, which has the settings before it', async () => {
  const setting = (name: string, value: string) => {
    const text = `select set_config('app.part', $1, true)`;
    return { name, text, values: [value], isSetting: true };
  };
  const text = `select $1::int as n, current_setting('app.part') as part`;
  const statement = (n: number) => ({ name: 'part', text, values: [n] });
  const other = { name: '', text: 'select 4 as m where $1', values: [true] };
  const pipeline = () =>
    new StatementPipeline([
      ...[setting('first', 'a'), statement(1), statement(2)],
      ...[setting('', 'lost'), setting('', 'b'), statement(3)],
      ...[other, { ...other, values: [false] }],
    ]);
  // The second time, the columns of prepared statements are known.
  for (const repeated of [pipeline(), pipeline()]) {
    client.query(repeated);
    const rows = await repeated.result;
    expect(rows.flat()).toEqual([
      { n: 1, part: 'a' },
      { n: 2, part: 'a' },
      { n: 3, part: 'b' },
      { m: 4 },
    ]);
    expect(rows.map(({ length }) => length)).toEqual([0, 1, 1, 0, 0, 1, 1, 0]);
  }
});

it('reads the rows of a prepared statement again after the columns of its table have changed', async () => {
  await client.query('create temporary table numbers (n int)');
  await client.query('insert into numbers values (1)');
  const read = () => run('select * from numbers', [[]], { name: 'all' }).result;
  expect(await read()).toEqual([{ n: 1 }]);
  await client.query(`alter table numbers add m text default 'a'`);
  await expect(read()).rejects.toThrow('cached plan must not change result type');
  expect(await read()).toEqual([{ n: 1, m: 'a' }]);
});

it('rolls back all statements if one fails', async () => {
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
  const pipeline = new StatementPipeline([{ name: '', text: 'select 1', values: [] }]);
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

describe('a statement on a connection that runs another one', () => {
  /** The statements that pg has been given. */
  let sent: jest.SpyInstance;
  beforeEach(() => (sent = jest.spyOn(pg.Client.prototype, 'query')));
  afterEach(() => {
    sent.mockRestore();
  });

  it('is sent when the other one has ended, even if that fails', async () => {
    const ended: string[] = [];
    const outcomes = Promise.allSettled(
      ['select 1 as n', 'select 1/0', 'select 3 as n'].map((text) =>
        client.query(text).finally(() => ended.push(text)),
      ),
    );
    expect(sent).toHaveBeenCalledTimes(1);
    const byCallback = new Promise((resolve) => {
      client.query('select 4 as n', (_error, { rows }) => {
        resolve(rows);
      });
    });
    const pipeline = run('select 5 as n', [[]]);
    expect(await outcomes).toMatchObject([
      { value: { rows: [{ n: 1 }] } },
      { reason: { code: '22012' } },
      { value: { rows: [{ n: 3 }] } },
    ]);
    expect(ended).toEqual(['select 1 as n', 'select 1/0', 'select 3 as n']);
    expect(await byCallback).toEqual([{ n: 4 }]);
    expect(await pipeline.result).toEqual([{ n: 5 }]);
    expect(sent).toHaveBeenCalledTimes(5);
  });

  it('fails if the connection is lost, as do all later ones', async () => {
    const outcomes = Promise.allSettled([
      client.query('select pg_sleep(60)'),
      client.query('select 1'),
      run('select 2', [[]]).result,
    ]);
    destroyConnection(client);
    expect(await outcomes).toMatchObject(
      Array.from({ length: 3 }, () => ({ status: 'rejected' }) as const),
    );
    await expect(client.query('select 3')).rejects.toThrow('not queryable');
    await expect(client.query('select 4')).rejects.toThrow('not queryable');
  });
});
