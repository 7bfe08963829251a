import { EventEmitter } from 'node:events';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import {
  acquireClient,
  type ConnectCallback,
  type DriverPool,
  poolOf,
  withPool,
} from './driver-pool.js';

/** Answers each statement as `select version()`. */
class FakeClient extends EventEmitter {
  query(): Promise<object> {
    return Promise.resolve({ rows: [{ version: 'PostgreSQL 18.0' }] });
  }
}

const CLIENT = new FakeClient() as unknown as pg.PoolClient;
const release = () => undefined;

class FakePool implements DriverPool {
  connect(callback: ConnectCallback): void {
    callback(undefined, CLIENT, release);
  }
  on(): void {
    // No events.
  }
  end(done: () => void): void {
    done();
  }
}

describe('the pool of a data source', () => {
  it('is of the class in its options and serves acquireClient()', async () => {
    const dataSource = new DataSource({
      type: 'postgres',
      installExtensions: false,
      ...withPool(FakePool),
    });
    await dataSource.initialize();
    expect(() => poolOf(dataSource)).toThrow('no pool of its own');
    expect(await acquireClient(dataSource)).toEqual([CLIENT, release]);
    await dataSource.destroy();
  });
});
