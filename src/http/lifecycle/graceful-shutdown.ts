import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';

/** Longer than any request may take. */
const DEADLINE_MS = 15_000;

const POLL_INTERVAL_MS = 20;

/** How long a kept connection has to send one more request, whose answer says that it is the last. */
const IDLE_CONNECTION_GRACE_MS = 100;

/** How long a new connection has to begin its first request. */
const FIRST_REQUEST_GRACE_MS = 500;

/** Long enough for those who connect at this moment. */
const ACCEPT_GRACE_MS = 50;

/**
 * How a server goes. It listens on while it finishes what it had when the drain began, so that
 * whoever asks learns of it, and until every connection has had its last answer: one that is closed
 * while a request is on its way fails that request. Then it stops listening and finishes what came
 * meanwhile.
 */
export class GracefulShutdown {
  private readonly pendingResponses = new Set<ServerResponse>();
  /** When each connection was made. */
  private readonly connections = new Map<Socket, number>();
  private isBegun = false;

  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.connections.set(socket, performance.now());
      socket.once('close', () => {
        this.connections.delete(socket);
        // Answers that wait behind another one on a lost connection are never told of it.
        for (const response of this.pendingResponses) {
          if (response.req.socket === socket) this.pendingResponses.delete(response);
        }
      });
    });
    server.prependListener('request', (_request, response: ServerResponse) => {
      // Keep-alive clients learn from their last answer that the server is going.
      if (this.isBegun) response.setHeader('Connection', 'close');
      this.pendingResponses.add(response);
      response.once('close', () => this.pendingResponses.delete(response));
    });
  }

  get hasBegun(): boolean {
    return this.isBegun;
  }

  begin(): void {
    this.isBegun = true;
  }

  /** Ends the server; what is not finished by the deadline is cut off. */
  async finish(): Promise<void> {
    this.begin();
    const end = performance.now() + DEADLINE_MS;
    const sweep = setInterval(() => {
      if (performance.now() > end) this.server.closeAllConnections();
      // Connections that fall idle after the server stopped listening are not closed by Node.
      else if (!this.server.listening) this.closeIdleConnections();
    }, POLL_INTERVAL_MS);
    const had = [...this.pendingResponses];
    while (had.some((response) => this.pendingResponses.has(response)) && performance.now() < end) {
      await after(POLL_INTERVAL_MS);
    }
    await Promise.race([
      Promise.all(Array.from(this.connections.keys(), closed)),
      after(IDLE_CONNECTION_GRACE_MS),
    ]);
    await this.acceptPendingConnections();
    await new Promise((resolve) => this.server.close(resolve));
    clearInterval(sweep);
  }

  /** Node takes one that has never sent anything, such as a browser makes in advance, for busy. */
  private closeIdleConnections(): void {
    this.server.closeIdleConnections();
    for (const [socket, made] of this.connections) {
      if (socket.bytesRead === 0 && performance.now() - made > FIRST_REQUEST_GRACE_MS)
        socket.destroy();
    }
  }

  /** Connections that wait to be accepted are reset when listening ends, with their requests. */
  private async acceptPendingConnections(): Promise<void> {
    const { _handle: handle } = this.server as unknown as {
      _handle: Partial<ListeningHandle> | null;
    };
    handle?.listen?.(0);
    await after(ACCEPT_GRACE_MS);
    // Right behind the phase of the event loop that accepts them.
    await new Promise(setImmediate);
  }
}

/** What Node listens with, which its declarations leave out. */
interface ListeningHandle {
  /** Changes how many connections may wait. */
  listen(backlog: number): number;
}

function closed(one: Socket): Promise<unknown> {
  return new Promise((resolve) => one.once('close', resolve));
}
