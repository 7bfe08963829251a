import type pg from 'pg';
import { NO_ORGANIZATION, type SessionContext } from './session-context.js';
import { bindAndExecute } from './statement-pipeline.js';
import { continuesAfterTransactionEnd } from './transaction-control.js';

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
 * Makes a query, such as a cursor, set the session context if it starts a transaction. This takes no additional round
 * trip, and PostgreSQL runs both in one transaction. A query with parameters sends the context under the same Sync.
 * Others, among them `START TRANSACTION`, send it in the same string, as `set local`: a `select` would take a snapshot,
 * after which the isolation level cannot be set.
 * @param client the connection that runs the query
 * @param config the configuration of a `pg.Query`
 * @returns the query
 * @throws TypeError if it lacks a method that the client calls
 */
export function beginWithContext(
  query: Partial<RunningQuery> & pg.Submittable,
  client: pg.ClientBase,
  context: SessionContext,
  config?: QueryText,
): pg.Submittable {
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
    if (hasOpenTransaction(client)) return submit(connection);
    if (config && isSimple(config)) {
      const { statements } = context;
      awaited = statements.length;
      prefix = `${statements.join('; ')}; `;
      connection.query(prefix + config.text);
      return undefined;
    }
    awaited = 1;
    connection.parse({ name: '', text: context.selectWith([], NO_ORGANIZATION), types: [] }, true);
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

function isRunningQuery(query: Partial<RunningQuery>): query is RunningQuery {
  const methods = [query.handleDataRow, query.handleCommandComplete, query.handleError];
  return methods.every((method) => typeof method === 'function');
}

/** Whether the driver sends the SQL as it is, without parameters. */
function isSimple({ text, values, queryMode, rows }: QueryText): boolean {
  return text !== '' && !values?.length && queryMode !== 'extended' && !rows;
}

export function hasOpenTransaction(client: pg.ClientBase): boolean {
  return ['T', 'E'].includes(client.getTransactionStatus() ?? 'I');
}
