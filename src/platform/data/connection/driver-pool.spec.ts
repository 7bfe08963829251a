import pg from 'pg';
import { DataSource } from 'typeorm';
import { poolOf, withConnection, withPool } from './driver-pool.js';

/** A pool with one client that counts its releases. */
function poolOfOne() {
  const client = { release: jest.fn() };
  return { client, pool: { connect: () => Promise.resolve(client) } as unknown as pg.Pool };
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

describe('withConnection', () => {
  it.each([
    ['succeeds', () => Promise.resolve('done')],
    ['fails', () => Promise.reject(new Error('no'))],
  ])('cancels the timer and releases the connection when the work %s', async (_, work) => {
    const { client, pool } = poolOfOne();
    const cancel = jest.fn();
    await Promise.allSettled([withConnection(pool, () => cancel, work)]);
    expect(cancel).toHaveBeenCalledTimes(1);
    expect(client.release).toHaveBeenCalledTimes(1);
  });
});
