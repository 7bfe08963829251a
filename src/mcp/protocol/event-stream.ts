import type { Response } from 'express';
import type { SessionEvent, SessionStream } from '../sessions/session.js';

/** Often enough that proxies keep the connection, and that a client who is gone is noticed. */
const HEARTBEAT_MS = 15_000;

/** How soon a client comes back whose stream has ended. */
const RETRY_MS = 1_000;

/** More than a client leaves unread that reads at all. */
const MAX_UNREAD_BYTES = 256 * 1_024;

export const EVENT_STREAM = 'text/event-stream';

const HEADERS = {
  'Content-Type': EVENT_STREAM,
  'Cache-Control': 'no-cache, no-transform',
  // Otherwise nginx keeps events back until its buffer is full.
  'X-Accel-Buffering': 'no',
};

/** An answer of server-sent events that stays open until one side ends it. */
export class EventStream implements SessionStream {
  private readonly heartbeat: NodeJS.Timeout;

  constructor(private readonly response: Response) {
    response.writeHead(200, HEADERS);
    response.flushHeaders();
    this.heartbeat = setInterval(() => this.write(': still here\n\n'), HEARTBEAT_MS).unref();
    response.once('close', () => {
      clearInterval(this.heartbeat);
    });
  }

  /** Tells the client an id to come back with before there is an event. */
  prime(id: number): void {
    this.write(`id: ${id}\nretry: ${RETRY_MS}\ndata: \n\n`);
  }

  send({ id, message }: SessionEvent): boolean {
    return this.write(`id: ${id}\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /**
   * Writes events as they are. A client that does not read them is let go: it may come back.
   * @returns whether they were taken
   */
  write(events: string | Uint8Array): boolean {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return false;
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
    else response.write(events);
    return !response.destroyed;
  }

  /** Passes on what is written elsewhere, until it ends there. */
  async pipe(source: ReadableStream<Uint8Array>): Promise<void> {
    for await (const events of source) this.write(events);
    this.close();
  }

  close(): void {
    const { response } = this;
    // Who does not read would never see the end.
    if (response.destroyed || response.writableNeedDrain) response.destroy();
    else response.end();
  }
}
