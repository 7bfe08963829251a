import pg from 'pg';
import { UTC_TYPES, utcText } from './utc-times.js';

/** A statement of a pipeline. */
export interface PipelineStatement {
  /** Each connection prepares the statement once under this name. Empty if it is not prepared. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** Whether it sets the settings of the statements after it. Its row is not read. */
  readonly isSetting?: boolean;
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

/** The statements that a connection has prepared by their names, with the columns of their rows. */
const PREPARED = new WeakMap<pg.Connection, Map<string, readonly Column[]>>();

const NAMES = new Map<string, string>();

/** Maximum number of prepared statements. Other statements are sent without a name. */
const MAX_PREPARED_STATEMENTS = 500;

/**
 * Returns the name under which connections prepare a statement; empty if there are too many.
 * @param isFixed whether the text is one of a few, which always have a name
 */
export function statementName(text: string, isFixed = false): string {
  const known = NAMES.get(text);
  if (known !== undefined) return known;
  if (NAMES.size >= MAX_PREPARED_STATEMENTS && !isFixed) return '';
  const name = `s${NAMES.size}`;
  NAMES.set(text, name);
  return name;
}

/**
 * Statements that are sent under one Sync: PostgreSQL runs them in one implicit transaction, and local settings
 * apply to nothing else. `client.query` accepts it as a query.
 */
export class StatementPipeline<Row> extends pg.Query {
  /** The rows of each statement. Rejects with `LostConnectionError` or any error of the driver. */
  readonly result: Promise<Row[][]>;
  private readonly received: Row[][];
  /** The index of the statement that runs. */
  private step = 0;
  private columns: readonly Column[] = [];
  /** The statements that this pipeline prepares, by their names. */
  private readonly parsed = new Map<string, readonly Column[]>();
  private prepared = new Map<string, readonly Column[]>();
  private failure: Error | undefined;
  private settle!: { resolve: (rows: Row[][]) => void; reject: (error: Error) => void };

  /** @param statements at least one */
  constructor(private readonly statements: readonly PipelineStatement[]) {
    super('');
    this.received = statements.map(() => []);
    this.result = new Promise((resolve, reject) => (this.settle = { resolve, reject }));
  }

  /** The index of the statement that was not completed, after an error; undefined if the commit failed. */
  get failedStatement(): number | undefined {
    return this.step < this.statements.length ? this.step : undefined;
  }

  override submit = (connection: pg.Connection): void => {
    this.prepared = PREPARED.get(connection) ?? new Map<string, readonly Column[]>();
    PREPARED.set(connection, this.prepared);
    const parameters = this.statements.map(({ values = [] }) => values.map(parameterOf));
    connection.stream.cork();
    for (const [index, statement] of this.statements.entries()) {
      const { name = '' } = statement;
      const isPrepared = this.prepared.has(name) || this.parsed.has(name);
      if (!isPrepared) this.parse(connection, statement);
      // The columns of a prepared statement are known.
      const isDescribed = !statement.isSetting && !this.prepared.has(name);
      bindAndExecute(connection, name, parameters[index], isDescribed);
    }
    connection.sync();
    // Other statements of this turn of the event loop are written to the socket together.
    process.nextTick(() => {
      connection.stream.uncork();
    });
  };

  private parse(connection: pg.Connection, { name = '', text }: PipelineStatement): void {
    if (name !== '') {
      // An earlier pipeline may have prepared it before it failed.
      connection.close({ type: 'S', name }, true);
      this.parsed.set(name, []);
    }
    connection.parse({ name, text, types: [] }, true);
  }

  handleRowDescription({ fields }: { fields: readonly pg.FieldDef[] }): void {
    this.columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: UTC_TYPES.getTypeParser(dataTypeID as never) as Column['parse'],
    }));
    const name = this.statements[this.step]?.name ?? '';
    if (name !== '') this.parsed.set(name, this.columns);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const statement = this.statements[this.step];
    if (statement?.isSetting) return;
    try {
      const columns = this.prepared.get(statement?.name ?? '') ?? this.columns;
      this.received[this.step]?.push(rowOf<Row>(columns, fields));
    } catch (error) {
      this.failure = error as Error;
    }
  }

  handleCommandComplete(): void {
    this.step++;
  }

  handleCopyInResponse(connection: pg.Connection): void {
    this.failure = new Error('COPY needs a client of its own.');
    connection.end();
  }

  handleCopyData(): void {
    this.failure = new Error('COPY needs a client of its own.');
  }

  handleError(error: Error, connection: pg.Connection): void {
    for (const { name = '' } of this.statements) this.prepared.delete(name);
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
    for (const [name, columns] of this.parsed) this.prepared.set(name, columns);
    if (this.failure) this.settle.reject(this.failure);
    else this.settle.resolve(this.received);
  }
}

/** Sends statements under one Sync. @see StatementPipeline.result */
export function sendStatements<Row>(
  client: pg.ClientBase,
  statements: readonly PipelineStatement[],
): Promise<Row[][]> {
  const pipeline = new StatementPipeline<Row>(statements);
  client.query(pipeline);
  return pipeline.result;
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

function rowOf<Row>(columns: readonly Column[], fields: readonly (string | null)[]): Row {
  const row: Record<string, unknown> = {};
  for (const [index, { name, parse }] of columns.entries()) {
    const text = fields[index] ?? null;
    row[name] = text === null ? null : parse(text);
  }
  return row as Row;
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
