import { promisify } from 'node:util';
import pg from 'pg';
import { hasOpenTransaction, isSubmittable, ResilientClient } from './driver-pool.js';
import { NO_ORGANIZATION, type SessionContext } from './session-context.js';
import { bindAndExecute, StatementPipeline } from './statement-pipeline.js';
import { continuesAfterTransactionEnd } from './transaction-control.js';
import { withUtcTimes } from './utc-times.js';

type Callback = (error: Error | undefined, result: unknown) => void;

/** The methods that a client calls on each query, including queries of other packages. */
interface RunningQuery {
  submit(connection: pg.Connection): unknown;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: pg.Connection): void;
  handleError(error: Error & { position?: string }, connection: pg.Connection): void;
}

/** The properties of a query that determine how the driver sends it. */
type QueryText = Pick<pg.QueryConfig, 'text' | 'values'> & {
  readonly queryMode?: string;
  readonly rows?: number;
};

/**
 * A connection of the data source. Every transaction begins with the session context.
 * Times are sent as UTC. This applies to all overloads of `query`.
 */
export class ApplicationClient extends ResilientClient {
  private readonly context: SessionContext;

  constructor(config: pg.ClientConfig & { readonly sessionContext: SessionContext }) {
    super(config);
    this.context = config.sessionContext;
  }

  /** Implements all overloads of pg, whose results differ. */
  override query(config: unknown, values?: unknown, callback?: unknown): never {
    return this.send(config, values, callback) as never;
  }

  private send(config: unknown, values: unknown, callback: unknown): unknown {
    const send = super.query.bind(this) as (...query: unknown[]) => unknown;
    if (config == null || config instanceof StatementPipeline)
      return send(config, values, callback);
    if (isSubmittable(config)) return send(this.begin(config), values, callback);
    if (typeof values === 'function') return this.send(config, undefined, values);
    const options = typeof config === 'string' ? { text: config } : (config as pg.QueryConfig);
    const run = (settle: Callback) => {
      // With a name, the driver would regard the statement as prepared once the context is parsed.
      const unnamed = {
        ...options,
        name: undefined,
        values: withUtcTimes(values ?? options.values) as unknown[] | undefined,
      };
      send(this.begin(new pg.Query(unnamed, settle), unnamed));
    };
    if (typeof callback !== 'function') return promisify(run)();
    run(callback as Callback);
    return undefined;
  }

  /**
   * Makes a query, such as a cursor, set the session context if it starts a transaction. This takes no additional round
   * trip, and PostgreSQL runs both in one transaction. A query with parameters sends the context under the same Sync.
   * Others, among them `START TRANSACTION`, send it in the same string, as `set local`: a `select` would take a snapshot,
   * after which the isolation level cannot be set.
   * @param config the configuration of a `pg.Query`
   * @returns the query
   * @throws TypeError if it lacks a method that the client calls
   */
  private begin(query: Partial<RunningQuery> & pg.Submittable, config?: QueryText): pg.Submittable {
    if (!this.context.transactionRole) return query;
    if (!isRunningQuery(query)) throw new TypeError('The query lacks a method that pg calls.');
    const submit = query.submit.bind(query);
    const handleDataRow = query.handleDataRow.bind(query);
    const handleCommandComplete = query.handleCommandComplete.bind(query);
    const handleError = query.handleError.bind(query);
    /** Number of pending results of the context. */
    let awaited = 0;
    let prefix = '';
    query.submit = (connection) => {
      if (config && continuesAfterTransactionEnd(config.text)) {
        return new Error(
          'Only the last statement of a query may end its transaction, and without "and chain".',
        );
      }
      // The state is checked here, because earlier queries may start or end a transaction.
      if (hasOpenTransaction(this)) return submit(connection);
      if (config && isSimple(config)) {
        const { statements } = this.context;
        awaited = statements.length;
        prefix = `${statements.join('; ')}; `;
        connection.query(prefix + config.text);
        return undefined;
      }
      awaited = 1;
      const text = this.context.selectWith([], NO_ORGANIZATION);
      connection.parse({ name: '', text, types: [] }, true);
      bindAndExecute(connection, '');
      return submit(connection);
    };
    query.handleDataRow = (message) => {
      if (awaited === 0) handleDataRow(message);
    };
    query.handleCommandComplete = (message, connection) => {
      if (awaited > 0) awaited--;
      else handleCommandComplete(message, connection);
    };
    query.handleError = (error, connection) => {
      if (error.position) error.position = String(Number(error.position) - prefix.length);
      handleError(error, connection);
    };
    return query;
  }
}

function isRunningQuery(query: Partial<RunningQuery>): query is RunningQuery {
  const methods = [query.handleDataRow, query.handleCommandComplete, query.handleError];
  return methods.every((method) => typeof method === 'function');
}

/** Whether the driver sends the SQL as it is, without parameters. */
function isSimple({ text, values, queryMode, rows }: QueryText): boolean {
  return text !== '' && !values?.length && queryMode !== 'extended' && !rows;
}
