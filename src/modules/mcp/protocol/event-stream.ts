import type { Response } from 'express';
import type { SessionEvent, SessionStream } from '../sessions/session.js';

/** Keeps proxies from closing the connection, and detects clients that have gone. */
const HEARTBEAT_MS = 15_000;

/** The time after which a client reconnects when its stream has ended. */
const RETRY_MS = 1_000;

/** A client with more unread bytes than this is taken to have stopped reading. */
const MAX_UNREAD_BYTES = 256 * 1_024;

export const EVENT_STREAM = 'text/event-stream';

const HEADERS = {
  'Content-Type': EVENT_STREAM,
  'Cache-Control': 'no-cache, no-transform',
  // Without this header nginx holds events back until its buffer is full.
  'X-Accel-Buffering': 'no',
};

/** A response of server-sent events that stays open until either side closes it. */
export class EventStream implements SessionStream {
  private readonly heartbeat: NodeJS.Timeout;

  constructor(private readonly response: Response) {
    response.writeHead(200, HEADERS);
    // Shows at once that the stream is open: some proxies and clients wait for the first bytes of a body.
    response.write(': open\n\n');
    this.heartbeat = setInterval(() => this.write(': still here\n\n'), HEARTBEAT_MS).unref();
    response.once('close', () => {
      clearInterval(this.heartbeat);
    });
  }

  /** Sends the priming event: an id that the client can resume from before the first message. */
  prime(id: number): void {
    this.write(`id: ${id}\nretry: ${RETRY_MS}\ndata: \n\n`);
  }

  send({ id, message }: SessionEvent): boolean {
    return this.write(`id: ${id}\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /**
   * Writes serialized events. Disconnects a client that does not read them; it can reconnect.
   * @returns whether the events were written
   */
  write(events: string | Uint8Array): boolean {
    const { response } = this;
    if (response.destroyed || response.writableEnded) return false;
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
    else response.write(events);
    return !response.destroyed;
  }

  /** Forwards a stream of serialized events until it ends, then closes this one. */
  async pipe(source: ReadableStream<Uint8Array>): Promise<void> {
    for await (const events of source) this.write(events);
    this.close();
  }

  close(): void {
    const { response } = this;
    // A client that does not read would never receive the end of the stream.
    if (response.destroyed || response.writableNeedDrain) response.destroy();
    else response.end();
  }
}
