import type pg from 'pg';
import { breakOff } from './resilient-client.js';

/** Milliseconds: what waits for a lock, what runs, and what is heard of not at all. */
const LOCK_MS = 2_000;
const STATEMENT_MS = 2_500;
const SILENCE_MS = 2_800;

const NO_END = () => undefined;

/** How long statements and transactions of the pool may take. */
export abstract class Patience {
  /** SQL expressions that tell PostgreSQL, for one transaction. */
  abstract readonly settings: readonly string[];

  /**
   * Watches a connection while it is used.
   * @returns what ends the watch
   */
  abstract begin(client: pg.ClientBase): () => void;
}

/** That of a server: together with the wait for a connection, an answer in less than 5 seconds. */
export class ServerPatience extends Patience {
  readonly settings = [
    `set_config('statement_timeout', '${STATEMENT_MS}', true)`,
    `set_config('lock_timeout', '${LOCK_MS}', true)`,
  ];

  /** A connection that a firewall forgot answers nothing, not even that it gives up. */
  begin(client: pg.ClientBase): () => void {
    const overdue = setTimeout(() => {
      breakOff(client);
    }, SILENCE_MS);
    return () => {
      clearTimeout(overdue);
    };
  }
}

/** That of the command line, whose work takes as long as it takes. */
export class CommandPatience extends Patience {
  readonly settings = [];

  begin(): () => void {
    return NO_END;
  }
}
