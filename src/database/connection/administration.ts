import pg from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { type ApplicationClient, hasOpenTransaction } from './application-client.js';

/**
 * The name of the data source whose statements run as the database user and look across
 * organizations. Everything that uses it is listed in docs/security.md.
 */
export const ADMINISTRATION = 'administration';

type ConnectCallback = (
  error: Error | undefined,
  client?: pg.PoolClient,
  release?: Release,
) => void;
type Release = (error?: Error | boolean) => void;

/** The options of a data source that borrows its connections from the application's. */
export function administrationOptions(application: DataSource): DataSourceOptions {
  const pool = (application.driver as PostgresDriver).master as pg.Pool;
  /** What TypeORM calls of a pool. */
  class BorrowedPool {
    connect(lend: ConnectCallback): void {
      pool.connect((error, client, release) => {
        if (!client) {
          lend(error);
          return;
        }
        const borrowed = client as unknown as ApplicationClient;
        borrowed.isAdministrative = true;
        lend(undefined, client, (failure) => {
          borrowed.isAdministrative = false;
          release(failure);
        });
      });
    }

    on(): void {
      // The application's pool reports its errors by itself.
    }

    end(done: () => void): void {
      done();
    }
  }
  return {
    type: 'postgres',
    driver: { ...pg, Pool: BorrowedPool },
    installExtensions: false,
    synchronize: false,
    logging: false,
  };
}

/** Closes a connection that is returned within a transaction, whose role the next user would get. */
export function closeUnfinishedTransactions(application: DataSource): void {
  const pool = (application.driver as PostgresDriver).master as pg.Pool;
  pool.on('release', (_: unknown, client: pg.PoolClient) => {
    // The pool removes a client that is ending in place of lending it again.
    if (hasOpenTransaction(client)) void (client as unknown as pg.Client).end();
  });
}
