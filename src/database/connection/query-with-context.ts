import { type DataRow, Query, type QueryCallback, type WireConnection } from './pg-internals.js';

/** A statement that sets the session context, before another one in the same implicit transaction. */
export interface ContextStatement {
  /** Empty if it is not prepared under a name. */
  readonly name: string;
  readonly text: string;
  /** As PostgreSQL reads them. */
  readonly values: readonly string[];
  /** Receives the row of the context statement, as text. */
  readonly onRow?: (fields: readonly (string | null)[]) => void;
}

/**
 * A prepared statement preceded by its session context. Both are sent under one Sync: PostgreSQL runs
 * them in one implicit transaction, so that local settings apply to the statement only.
 */
export class QueryWithContext extends Query {
  /** Name and text of the statement while the result of the context statement is pending. */
  private statement: { name: string; text: string } | undefined;

  /**
   * @param context undefined if the statement needs none
   * @param config with `values` and `callback`, in any form that pg accepts
   */
  constructor(
    protected context: ContextStatement | undefined,
    config: unknown,
    values?: unknown,
    callback?: QueryCallback,
  ) {
    super(config, values, callback);
  }

  override prepare(connection: WireConnection): void {
    if (this.context) sendContext(this.context, connection);
    super.prepare(connection);
    if (!this.context) return;
    this.statement = { name: this.name, text: this.text };
    // pg records a parsed statement under the current name and text of the query.
    Object.assign(this, { name: this.context.name, text: this.context.text });
  }

  override handleDataRow(message: DataRow): void {
    if (this.statement) this.context?.onRow?.(message.fields);
    else super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: WireConnection): void {
    if (!this.statement) {
      super.handleCommandComplete(message, connection);
      return;
    }
    Object.assign(this, this.statement);
    this.statement = undefined;
  }

  override handleError(error: Error, connection: WireConnection): void {
    // After an error, only confirmed statements are parsed on the server.
    for (const name of [this.context?.name, this.statement?.name, this.name]) {
      if (name) connection.submittedNamedStatements[name] = undefined;
    }
    super.handleError(error, connection);
  }
}

/** Sends a context statement ahead of another statement. */
export function sendContext(
  { name, text, values }: ContextStatement,
  connection: WireConnection,
): void {
  if (!isKnown(connection, name)) {
    connection.parse({ name, text });
    if (name !== '') connection.submittedNamedStatements[name] = text;
  }
  connection.bind({ statement: name, values });
  connection.execute({});
}

function isKnown(connection: WireConnection, name: string): boolean {
  return (
    connection.parsedStatements[name] !== undefined ||
    connection.submittedNamedStatements[name] !== undefined
  );
}
