import type { Duplex } from 'node:stream';
import pg from 'pg';

// The parts of pg that its type declarations omit. Everything that relies on them is in this file.

/** The internal connection of a client, which speaks the wire protocol. */
export interface WireConnection {
  readonly stream: Duplex;
  parsedStatements: Record<string, string | undefined>;
  submittedNamedStatements: Record<string, string | undefined>;
  parse(message: { name: string; text: string }): void;
  bind(message: { statement?: string; values?: readonly unknown[] }): void;
  describe(message: { type: 'P'; name: string }): void;
  execute(message: object): void;
}

/** `result` is defined if there is no error. Several executions have several results. */
export type QueryCallback = (
  error: Error | null,
  result: pg.QueryResult | pg.QueryResult[] | undefined,
) => void;

/** A row as the server sends it. */
export interface DataRow {
  readonly fields: readonly (string | null)[];
}

/** The methods that a client calls on each query, also on those of other packages. */
export interface WireSubmittable {
  submit(connection: WireConnection): Error | null;
  handleDataRow(message: DataRow): void;
  handleCommandComplete(message: unknown, connection: WireConnection): void;
}

interface WireQuery extends WireSubmittable {
  name: string;
  text: string;
  callback?: QueryCallback;
  requiresPreparation(): boolean;
  prepare(connection: WireConnection): void;
  handleError(error: Error, connection: WireConnection): void;
}

/** pg's `Query` with its extension points. */
export const Query = pg.Query as unknown as new (
  config: unknown,
  values?: unknown,
  callback?: QueryCallback,
) => WireQuery;

export function wireConnectionOf(client: pg.ClientBase): WireConnection {
  return (client as unknown as { connection: WireConnection }).connection;
}

/** Returns the socket of a connection. */
export function streamOf(client: pg.ClientBase): Duplex {
  return wireConnectionOf(client).stream;
}
