import type { Duplex } from 'node:stream';
import pg from 'pg';

/** How long a server has to say goodbye: one that a firewall cut off never does. */
const FAREWELL_MS = 1_000;

/** A client whose lost connection fails its statements and never the process. */
export class ResilientClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    const overdue = setTimeout(() => {
      breakOff(this);
    }, FAREWELL_MS);
    this.once('end', () => {
      clearTimeout(overdue);
    });
    if (!callback) return super.end();
    super.end(callback);
    return undefined;
  }
}

/** Ends a connection without a word to the server, which may not be listening. */
export function breakOff(client: pg.ClientBase): void {
  streamOf(client).destroy();
}

/** The connection itself, which the declarations of pg leave out. */
export function streamOf(client: pg.ClientBase): Duplex {
  return (client as unknown as { connection: { stream: Duplex } }).connection.stream;
}
