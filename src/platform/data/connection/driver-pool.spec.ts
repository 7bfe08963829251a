import pg from 'pg';
import { DataSource } from 'typeorm';
import { ConnectionPool, poolOf, withPool, ResilientClient } from './driver-pool.js';

/** A pool with one client that counts its releases. */
function poolOfOne() {
  const client = Object.assign(new ResilientClient(), { release: jest.fn() });
  const pool = new ConnectionPool({});
  jest.spyOn(pool, 'connect').mockResolvedValue(client as never);
  return { client, pool };
}

describe('the pool of a data source', () => {
  it('is found only for a data source that was created for it', () => {
    const dataSource = new DataSource({ type: 'postgres', installExtensions: false, driver: pg });
    expect(() => poolOf(dataSource)).toThrow('was not created with withPool()');
    const { driver } = withPool() as { driver: typeof pg };
    const pool = new driver.Pool({ max: 3 });
    const other = new DataSource({ type: 'postgres', installExtensions: false, driver });
    expect(poolOf(other)).toBe(pool);
  });
});

describe('work on a connection', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it.each([
    ['succeeds', () => Promise.resolve('done')],
    ['fails', () => Promise.reject(new Error('no'))],
  ])('cancels the timer and releases the connection when it %s', async (_, work) => {
    const { client, pool } = poolOfOne();
    const destroy = jest.spyOn(client, 'destroy');
    await Promise.allSettled([
      pool.use((_client, limitTo) => {
        limitTo(1_000);
        return work();
      }),
    ]);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(destroy).not.toHaveBeenCalled();
    expect(client.release).toHaveBeenCalledTimes(1);
  });

  it('destroys the connection when it takes too long', async () => {
    const { client, pool } = poolOfOne();
    const onDestroy = jest.fn();
    void pool.use((_client, limitTo) => {
      limitTo(1_000, onDestroy);
      return new Promise(() => undefined);
    });
    const destroy = jest.spyOn(client, 'destroy');
    await jest.advanceTimersByTimeAsync(2_000);
    expect(destroy).toHaveBeenCalledTimes(1);
    expect(onDestroy).toHaveBeenCalledTimes(1);
  });
});
