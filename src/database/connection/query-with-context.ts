import { type DataRow, Query, type QueryCallback, type WireConnection } from './pg-internals.js';

/** A statement that sets the session context, before another one in the same implicit transaction. */
export interface ContextStatement {
  /** Empty if it is not prepared under a name. */
  readonly name: string;
  readonly text: string;
  /** As PostgreSQL reads them. */
  readonly values: readonly (string | null)[];
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
   * @param repeats values of executions ahead of the one with the values of `config`
   */
  constructor(
    protected context: ContextStatement | undefined,
    config: unknown,
    values?: unknown,
    callback?: QueryCallback,
    private readonly repeats: readonly (readonly (string | null)[])[] = [],
  ) {
    super(config, values, callback);
  }

  override prepare(connection: WireConnection): void {
    if (this.context) sendStatement(this.context, connection);
    for (const values of this.repeats) sendStatement({ ...this.named, values }, connection, true);
    super.prepare(connection);
    if (!this.context) return;
    this.statement = this.named;
    // pg records a parsed statement under the current name and text of the query.
    Object.assign(this, { name: this.context.name, text: this.context.text });
  }

  private get named(): { name: string; text: string } {
    return { name: this.name, text: this.text };
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

/**
 * Sends a statement ahead of another one, which sends the Sync.
 * @param hasRows whether the rows are read
 */
export function sendStatement(
  { name, text, values }: ContextStatement,
  connection: WireConnection,
  hasRows = false,
): void {
  if (!isKnown(connection, name)) {
    connection.parse({ name, text });
    if (name !== '') connection.submittedNamedStatements[name] = text;
  }
  connection.bind({ statement: name, values });
  if (hasRows) connection.describe({ type: 'P', name: '' });
  connection.execute({});
}

function isKnown(connection: WireConnection, name: string): boolean {
  return (
    connection.parsedStatements[name] !== undefined ||
    connection.submittedNamedStatements[name] !== undefined
  );
}
