import type pg from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { ApplicationClient } from './application-client.js';
import { hasOpenTransaction } from './transaction-context.js';
import { type ConnectCallback, type DriverPool, poolOf, withPool } from './driver-pool.js';

/**
 * Name of the data source whose statements run as the database user and read across organizations.
 * docs/security.md lists its uses.
 */
export const ADMINISTRATION = 'administration';

/** The options of a data source that borrows connections from the pool of the application. */
export function administrationOptions(application: DataSource): DataSourceOptions {
  const pool = poolOf(application);
  class BorrowedPool implements DriverPool {
    connect(callback: ConnectCallback): void {
      pool.connect((error, client, release) => {
        if (!(client instanceof ApplicationClient)) {
          callback(error);
          return;
        }
        client.isAdministrative = true;
        callback(undefined, client, (failure) => {
          client.isAdministrative = false;
          release(failure);
        });
      });
    }

    on(): void {
      // The pool of the application reports its own errors.
    }

    end(done: () => void): void {
      done();
    }
  }
  return {
    type: 'postgres',
    ...withPool(BorrowedPool),
    installExtensions: false,
    synchronize: false,
    logging: false,
  };
}

/** Closes connections that are released inside a transaction, whose role would apply to the next user. */
export function closeUnfinishedTransactions(application: DataSource): void {
  poolOf(application).on('release', (_: unknown, client: pg.PoolClient) => {
    // The pool removes a client that is ending.
    if (client instanceof ApplicationClient && hasOpenTransaction(client)) void client.end();
  });
}
