import type pg from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { ApplicationClient } from './application-client.js';
import { hasOpenTransaction } from './transaction-context.js';
import { type ConnectCallback, type DriverPool, poolOf, withPool } from './typeorm-internals.js';

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
        if (!client) {
          callback(error);
          return;
        }
        const borrowed = client as unknown as ApplicationClient;
        borrowed.isAdministrative = true;
        callback(undefined, client, (failure) => {
          borrowed.isAdministrative = false;
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
    if (hasOpenTransaction(client)) void (client as unknown as pg.Client).end();
  });
}
