import pg from 'pg';

/** The parts of pg's wire connection that a query of ours drives. */
interface WireConnection {
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
  prepare(connection: WireConnection): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: WireConnection): void;
  handleError(error: Error, connection: WireConnection): void;
}

/** The result is there where there is no error. */
type QueryCallback = (error: Error | null, result: pg.QueryResult | undefined) => void;

const Query = pg.Query as unknown as new (
  config: { name: string; text: string; values: readonly unknown[] },
  callback: QueryCallback,
) => WireQuery;

/** A statement that runs before another one in the same implicit transaction. */
export interface Preamble {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * A prepared statement with a preamble, sent under one Sync: PostgreSQL runs both in one implicit
 * transaction and one round trip, so what the preamble sets "local" holds for the statement alone.
 */
export class QueryWithPreamble extends Query {
  private inPreamble = true;
  private readonly statement: { name: string; text: string };
  private readonly tell: (error: Error) => void;

  constructor(
    private readonly preamble: Preamble,
    statement: { name: string; text: string; values: readonly unknown[] },
    callback: QueryCallback,
  ) {
    super(statement, callback);
    this.tell = (error) => {
      callback(error, undefined);
    };
    this.statement = statement;
  }

  override prepare(connection: WireConnection): void {
    const { name, text, values } = this.preamble;
    if (!isKnown(connection, name)) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values });
    connection.execute({});
    super.prepare(connection);
    // pg books each answer under the name and text that the query shows at that moment.
    Object.assign(this, { name, text });
  }

  override handleDataRow(message: unknown): void {
    if (!this.inPreamble) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: WireConnection): void {
    if (!this.inPreamble) {
      super.handleCommandComplete(message, connection);
      return;
    }
    this.inPreamble = false;
    Object.assign(this, { name: this.statement.name, text: this.statement.text });
  }

  override handleError(error: Error, connection: WireConnection): void {
    // After an error the server has parsed only what it confirmed.
    for (const { name } of [this.preamble, this.statement]) {
      connection.submittedNamedStatements[name] = undefined;
    }
    super.handleError(error, connection);
  }

  /** Tells that there is no connection to send it on. */
  fail(error: Error): void {
    this.tell(error);
  }
}

function isKnown(connection: WireConnection, name: string): boolean {
  return (
    connection.parsedStatements[name] !== undefined ||
    connection.submittedNamedStatements[name] !== undefined
  );
}
