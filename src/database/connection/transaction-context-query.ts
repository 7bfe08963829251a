import type pg from 'pg';
import type { SessionContext } from './session-context.js';
import type { QueryCallback, WireConnection, WireSubmittable } from './pg-internals.js';
import { type ContextStatement, QueryWithContext, sendStatement } from './query-with-context.js';
import { continuesAfterTransactionEnd } from './transaction-control.js';

/** The connection state that a query depends on. */
export interface Session {
  readonly context: SessionContext;
  /** If so, the context is set already. */
  isInTransaction(): boolean;
}

/**
 * A query that sets the session context if it starts a transaction. This needs no extra round trip: a
 * query with parameters sends the context under the same Sync, and other queries send it in the same
 * text. PostgreSQL runs both in one transaction.
 */
export class TransactionContextQuery extends QueryWithContext {
  /** Number of pending results of context statements. */
  private awaited = 0;
  private prefix = '';

  constructor(
    private readonly session: Session,
    config: unknown,
    values?: unknown,
    callback?: QueryCallback,
  ) {
    super(undefined, config, values, callback);
  }

  override submit(connection: WireConnection): Error | null {
    if (typeof this.text === 'string' && continuesAfterTransactionEnd(this.text)) {
      return new Error(
        'Only the last statement of a text may end its transaction, and without "and chain".',
      );
    }
    // Decided here, because queries ahead of this one may start or end a transaction.
    if (!this.session.isInTransaction()) this.beginWithContext();
    return super.submit(connection);
  }

  override handleCommandComplete(message: unknown, connection: WireConnection): void {
    if (this.awaited > 0) this.awaited--;
    else super.handleCommandComplete(message, connection);
  }

  override handleError(error: Error & { position?: string }, connection: WireConnection): void {
    if (error.position) error.position = String(Number(error.position) - this.prefix.length);
    super.handleError(error, connection);
  }

  private beginWithContext(): void {
    const { context } = this.session;
    if (this.requiresPreparation()) {
      this.context = contextStatementOf(context);
    } else if (this.text) {
      this.awaited = context.statements.length;
      this.prefix = `${context.statements.join('; ')}; `;
      this.text = this.prefix + this.text;
    }
  }
}

/** Makes a query of another package, such as a cursor, set the session context if it starts a transaction. */
export function withContext(query: pg.Submittable, session: Session): pg.Submittable {
  const submitted = query as unknown as WireSubmittable;
  const submit = submitted.submit.bind(query);
  const handleDataRow = submitted.handleDataRow.bind(query);
  const handleCommandComplete = submitted.handleCommandComplete.bind(query);
  let isAwaited = false;
  submitted.submit = (connection) => {
    if (!session.isInTransaction()) {
      isAwaited = true;
      sendStatement(contextStatementOf(session.context), connection);
    }
    return submit(connection);
  };
  submitted.handleDataRow = (message) => {
    if (!isAwaited) handleDataRow(message);
  };
  submitted.handleCommandComplete = (message, connection) => {
    if (isAwaited) isAwaited = false;
    else handleCommandComplete(message, connection);
  };
  return query;
}

function contextStatementOf(context: SessionContext): ContextStatement {
  const name = context.hasOwnSession ? 'session context' : '';
  return { name, text: `select ${context.calls.join(', ')}`, values: [] };
}
