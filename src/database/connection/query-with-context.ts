import pg from 'pg';

/** The parts of pg's wire connection that a query of ours drives. */
export interface WireConnection {
  parsedStatements: Record<string, string | undefined>;
  submittedNamedStatements: Record<string, string | undefined>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly unknown[] }): void;
  execute(message: object): void;
}

/** pg's own `Query`, whose extension points its type declarations leave out. */
interface WireQuery {
  name: string;
  text: string;
  callback?: QueryCallback;
  submit(connection: WireConnection): Error | null;
  requiresPreparation(): boolean;
  prepare(connection: WireConnection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: WireConnection): void;
  handleError(error: Error, connection: WireConnection): void;
}

/** The result is there where there is no error. */
export type QueryCallback = (error: Error | null, result: pg.QueryResult | undefined) => void;

const Query = pg.Query as unknown as new (
  config: unknown,
  values?: unknown,
  callback?: QueryCallback,
) => WireQuery;

/** A statement that runs before another one in the same implicit transaction. */
export interface ContextStatement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * A prepared statement with a preamble, sent under one Sync: PostgreSQL runs both in one implicit
 * transaction and one round trip, so what the preamble sets "local" holds for the statement alone.
 */
export class QueryWithContext extends Query {
  /** While the answer to the preamble is awaited: what pg is to call the query afterwards. */
  private statement: { name: string; text: string } | undefined;

  /**
   * @param context undefined where the statement needs none
   * @param config with `values` and `callback` in any of the forms that pg takes
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
    // pg books each answer under the name and text that the query shows at that moment.
    Object.assign(this, { name: this.context.name, text: this.context.text });
  }

  override handleDataRow(message: unknown): void {
    if (!this.statement) super.handleDataRow(message);
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
    // After an error the server has parsed only what it confirmed.
    for (const name of [this.context?.name, this.statement?.name, this.name]) {
      if (name) connection.submittedNamedStatements[name] = undefined;
    }
    super.handleError(error, connection);
  }

  /** Tells that there is no connection to send it on. */
  fail(error: Error): void {
    this.callback?.(error, undefined);
  }
}

/** Sends a statement whose answer comes before that to whatever is sent behind it. */
export function sendContext(
  { name, text, values }: ContextStatement,
  connection: WireConnection,
): void {
  if (!isKnown(connection, name)) {
    connection.parse({ name, text });
    connection.submittedNamedStatements[name] = text;
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
