import type { Response } from 'express';
import type { SessionEvent, SessionStream } from './session.js';

/** Often enough that proxies keep the connection, and that a client who is gone is noticed. */
const HEARTBEAT_MS = 15_000;

/** How soon a client comes back whose stream has ended. */
const RETRY_MS = 1_000;

const HEADERS = {
  'Content-Type': 'text/event-stream',
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
    this.heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS).unref();
    response.once('close', () => {
      clearInterval(this.heartbeat);
    });
  }

  /** Tells the client an id to come back with before there is an event. */
  prime(id: number): void {
    this.response.write(`id: ${id}\nretry: ${RETRY_MS}\ndata: \n\n`);
  }

  send({ id, message }: SessionEvent): void {
    this.response.write(`id: ${id}\ndata: ${JSON.stringify(message)}\n\n`);
  }

  close(): void {
    this.response.end();
  }
}
