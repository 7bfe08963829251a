import type pg from 'pg';
import { TransactionContextQuery, type Session, withContext } from './transaction-context-query.js';
import { ResilientClient } from './resilient-client.js';
import type { SessionContext } from './session-context.js';
import type { QueryCallback } from './pg-internals.js';
import { QueryWithContext } from './query-with-context.js';

/** The configuration of a client, with the session context of its transactions. */
export interface ApplicationClientConfig extends pg.ClientConfig {
  readonly sessionContext: SessionContext;
}

/**
 * A connection of the application's data source. Every transaction begins with the session context,
 * whichever overload of `query` starts it.
 */
export class ApplicationClient extends ResilientClient {
  /** Whether the administration data source uses the connection: statements run as the database user. */
  isAdministrative = false;
  private readonly session: Session;

  constructor(config: ApplicationClientConfig) {
    super(config);
    this.session = {
      context: config.sessionContext,
      isInTransaction: () => hasOpenTransaction(this),
    };
  }

  /** Implements all overloads of pg, whose results differ. */
  override query(config: unknown, values?: unknown, callback?: unknown): never {
    return this.send(config, values, callback) as never;
  }

  private send(config: unknown, values: unknown, callback: unknown): unknown {
    const send = super.query.bind(this) as (...query: unknown[]) => unknown;
    const { context } = this.session;
    const needsNone =
      this.isAdministrative || context.isEmpty || config instanceof QueryWithContext;
    if (needsNone || config == null) return send(config, values, callback);
    if (isSubmittable(config)) return send(withContext(config, this.session), values, callback);
    const query = new TransactionContextQuery(
      this.session,
      config,
      values,
      callback as QueryCallback,
    );
    if (query.callback) return void send(query);
    return new Promise((resolve, reject) => {
      query.callback = (error, result) => {
        if (error) reject(error);
        else resolve(result);
      };
      send(query);
    });
  }
}

export function hasOpenTransaction(client: pg.ClientBase): boolean {
  return ['T', 'E'].includes(client.getTransactionStatus() ?? 'I');
}

function isSubmittable(config: unknown): config is pg.Submittable {
  return typeof (config as pg.Submittable).submit === 'function';
}
