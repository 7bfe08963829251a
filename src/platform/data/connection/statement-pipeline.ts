import pg from 'pg';
import { UTC_TYPES, utcText } from './utc-times.js';

/** A statement with parameters. */
export interface ParameterizedStatement {
  /** Each connection prepares the statement once under this name. Empty if it is not prepared. */
  readonly name: string;
  readonly text: string;
}

/** A statement that sets the session context, before another one in the same implicit transaction. */
export interface ContextStatement extends ParameterizedStatement {
  /** In the text format of PostgreSQL. */
  readonly values: readonly (string | null)[];
}

/** The executions of one statement, after the settings of their session context. */
export interface PipelinePart {
  readonly contexts: readonly ContextStatement[];
  readonly statement: ParameterizedStatement;
  /** The values of each execution, at least one. */
  readonly executions: readonly (readonly unknown[])[];
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** A connection was lost before it returned the result of a statement. The outcome of a write is unknown. */
export class LostConnectionError extends Error {
  constructor(override readonly cause: Error) {
    super(cause.message);
  }
}

/** SQLSTATEs of errors with which PostgreSQL closes a connection. */
const CLOSED = /^(08|57P|25P0[34])/;

/** The names of the statements that a connection has prepared. */
const preparedOn = new WeakMap<pg.Connection, Set<string>>();

/** What the next result of PostgreSQL belongs to. */
interface Step<Row> {
  /** The index of the part. */
  readonly part: number;
  /** The rows of the part; undefined for a context. */
  readonly rows?: Row[];
}

/**
 * Statements with their session contexts, sent under one Sync: PostgreSQL runs them in one implicit transaction,
 * and local settings apply to nothing else. `client.query` accepts it as a query.
 */
export class StatementPipeline<Row> extends pg.Query {
  /** The rows of each part. Rejects with `LostConnectionError` or any error of the driver. */
  readonly result: Promise<Row[][]>;
  /** The row of the last context, as text. */
  contextRow: readonly (string | null)[] = [];
  private readonly parsed = new Set<string>();
  private readonly received: Row[][];
  private readonly steps: readonly Step<Row>[];
  private step = 0;
  private columns: readonly Column[] = [];
  private failure: Error | undefined;
  private prepared = new Set<string>();
  private settle!: { resolve: (rows: Row[][]) => void; reject: (error: Error) => void };

  /** @param parts at least one */
  constructor(private readonly parts: readonly PipelinePart[]) {
    super('');
    this.received = parts.map(() => []);
    this.steps = parts.flatMap(({ contexts, executions }, part) => [
      ...contexts.map(() => ({ part })),
      ...executions.map(() => ({ part, rows: this.received[part] })),
    ]);
    this.result = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
  }

  /** The index of the part that was not completed, after an error; undefined if the commit failed. */
  get failedPart(): number | undefined {
    return this.steps[this.step]?.part;
  }

  override submit = (connection: pg.Connection): void => {
    this.prepared = preparedOn.get(connection) ?? new Set();
    preparedOn.set(connection, this.prepared);
    const parts = this.parts.map(({ executions, ...part }) => ({
      ...part,
      executions: executions.map((values) => values.map(parameterOf)),
    }));
    connection.stream.cork();
    for (const { contexts, statement, executions } of parts) {
      for (const context of contexts) {
        this.parse(connection, context);
        bindAndExecute(connection, context.name, context.values);
      }
      this.parse(connection, statement);
      for (const [index, values] of executions.entries()) {
        // All executions have the same columns.
        bindAndExecute(connection, statement.name, values, index === 0);
      }
    }
    connection.sync();
    // Other statements of this turn of the event loop are written to the socket together.
    process.nextTick(() => {
      connection.stream.uncork();
    });
  };

  private parse(connection: pg.Connection, { name, text }: ParameterizedStatement): void {
    if (this.prepared.has(name) || this.parsed.has(name)) return;
    if (name !== '') {
      // An earlier pipeline may have prepared it before it failed.
      connection.close({ type: 'S', name }, true);
      this.parsed.add(name);
    }
    connection.parse({ name, text, types: [] }, true);
  }

  handleRowDescription({ fields }: { fields: readonly pg.FieldDef[] }): void {
    this.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: UTC_TYPES.getTypeParser(dataTypeID as never) as Column['parse'],
    }));
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const rows = this.steps[this.step]?.rows;
    if (!rows) {
      this.contextRow = fields;
      return;
    }
    try {
      rows.push(this.rowOf(fields));
    } catch (error) {
      this.failure = error as Error;
    }
  }

  private rowOf(fields: readonly (string | null)[]): Row {
    const row: Record<string, unknown> = {};
    for (const [index, { name, parse }] of this.columns.entries()) {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    return row as Row;
  }

  handleCommandComplete(): void {
    this.step++;
  }

  handleEmptyQuery(): void {
    // It has no rows.
  }

  handleCopyInResponse(connection: pg.Connection): void {
    this.failure = new Error('COPY needs a client of its own.');
    connection.end();
  }

  handleCopyData(): void {
    this.failure = new Error('COPY needs a client of its own.');
  }

  handleError(error: Error, connection: pg.Connection): void {
    for (const { contexts, statement } of this.parts) {
      for (const { name } of [...contexts, statement]) this.prepared.delete(name);
    }
    if (!(error instanceof pg.DatabaseError) || CLOSED.test(error.code ?? '')) {
      this.settle.reject(this.failure ?? new LostConnectionError(error));
      return;
    }
    // PostgreSQL sends an error before it ends the transaction and releases its locks.
    const reject = () => {
      connection.off('readyForQuery', reject).off('end', reject);
      this.settle.reject(this.failure ?? error);
    };
    connection.on('readyForQuery', reject).on('end', reject);
  }

  handleReadyForQuery(): void {
    for (const name of this.parsed) this.prepared.add(name);
    if (this.failure) this.settle.reject(this.failure);
    else this.settle.resolve(this.received);
  }
}

/**
 * Executes a statement that is prepared.
 * @param isDescribed whether the columns of the rows are sent
 */
export function bindAndExecute(
  connection: pg.Connection,
  statement: string,
  values: readonly (string | Buffer | null)[] = [],
  isDescribed = false,
): void {
  connection.bind({ statement, values: [...values] }, true);
  if (isDescribed) connection.describe({ type: 'P', name: '' }, true);
  connection.execute({}, true);
}

/** Formats a value for PostgreSQL. */
function parameterOf(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return arrayText(value);
  if (value instanceof Date) return utcText(value);
  return typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : JSON.stringify(value);
}

/** An array literal of PostgreSQL. */
function arrayText(values: readonly unknown[]): string {
  const items = values.map((value) => {
    if (Array.isArray(value)) return arrayText(value);
    const item = parameterOf(value);
    if (item === null) return 'NULL';
    const text = Buffer.isBuffer(item) ? `\\x${item.toString('hex')}` : item;
    return `"${text.replace(/[\\"]/g, '\\$&')}"`;
  });
  return `{${items.join()}}`;
}
