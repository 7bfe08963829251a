import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { setBacklog } from './node-internals.js';

/** Time for the whole shutdown. Requests are faster. */
const DEADLINE_MS = 15_000;

/**
 * How long before the end of a drain the server begins to close each connection after its next response. By
 * then, load balancers use other instances. Earlier, HAProxy would sometimes drop the client's next request.
 */
const CLOSING_MS = 1_000;

const POLL_INTERVAL_MS = 20;

/** Time for an idle keep-alive connection to send one more request, answered with `close`. */
const IDLE_CONNECTION_GRACE_MS = 100;

/** Time for a new connection to send its first request. */
const FIRST_REQUEST_GRACE_MS = 500;

/** Time to accept the connections that the operating system has queued. */
const ACCEPT_GRACE_MS = 50;

interface Connection {
  /** Milliseconds of `performance.now()`. */
  readonly openedAt: number;
  /** Responses that are not complete, in the order of their requests. */
  readonly pending: Set<ServerResponse>;
}

/**
 * Shuts a server down without losing requests. First it may drain: it serves as before and is not ready, so
 * that load balancers send their requests elsewhere. While the server finishes its pending requests, it sends
 * `Connection: close` and still listens, so that health checks see that it drains. Idle connections get time
 * for one more request, because closing them can lose a request that the client has just sent. Then the
 * server stops listening and finishes the requests that arrived in the meantime.
 */
export class GracefulShutdown {
  private readonly connections = new Map<Socket, Connection>();
  /** Whether the server drains or shuts down. */
  hasBegun = false;
  /** When the shutdown must end (milliseconds of `performance.now()`). */
  private deadline = Infinity;
  private closesConnections = false;
  /** Number of connections since the server was created. */
  private accepted = 0;

  constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.accepted++;
      this.connections.set(socket, { openedAt: performance.now(), pending: new Set() });
      // Node emits no `close` for responses that are queued behind another one.
      socket.once('close', () => this.connections.delete(socket));
    });
    server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      if (this.closesConnections) response.setHeader('Connection', 'close');
      const pending = this.connections.get(socket)?.pending;
      pending?.add(response);
      response.on('close', () => pending?.delete(response));
    });
  }

  /** Returns the response that a connection is sending, or is about to send. */
  pendingResponseOf(socket: Socket): ServerResponse | undefined {
    const [oldest] = this.connections.get(socket)?.pending ?? [];
    return oldest;
  }

  /**
   * Serves as before for some time, and closes each connection after its next response at the end of it.
   * @param ms at least a second
   */
  async drain(ms: number): Promise<void> {
    this.hasBegun = true;
    await after(ms - CLOSING_MS);
    this.closeConnections();
    await after(CLOSING_MS);
  }

  /** Begins the shutdown, which `finish` ends. */
  begin(): void {
    this.hasBegun = true;
    this.deadline = Math.min(this.deadline, performance.now() + DEADLINE_MS);
    this.closeConnections();
  }

  /** Closes the server. Requests that are pending at the deadline are aborted. */
  async finish(): Promise<void> {
    this.begin();
    const timer = setInterval(() => {
      if (performance.now() > this.deadline) this.server.closeAllConnections();
      // Node does not close connections that become idle after the server stopped listening.
      else if (!this.server.listening) this.closeIdleConnections();
    }, POLL_INTERVAL_MS);
    const pending = this.pendingResponses();
    // Event streams do not end by themselves. Their clients reconnect to another instance.
    for (const response of pending) if (isEventStream(response)) response.destroy();
    while (
      pending.some((one) => this.connections.get(one.req.socket)?.pending.has(one)) &&
      performance.now() < this.deadline
    ) {
      await after(POLL_INTERVAL_MS);
    }
    await this.allClosedWithin(IDLE_CONNECTION_GRACE_MS);
    await this.acceptPendingConnections();
    await new Promise((resolve) => this.server.close(resolve));
    clearInterval(timer);
  }

  /** Closes each connection after the response to its current or next request. */
  private closeConnections(): void {
    this.closesConnections = true;
    for (const response of this.pendingResponses()) {
      if (!response.headersSent) response.setHeader('Connection', 'close');
    }
  }

  private pendingResponses(): ServerResponse[] {
    return Array.from(this.connections.values(), ({ pending }) => [...pending]).flat();
  }

  private async allClosedWithin(ms: number): Promise<void> {
    const closed = Array.from(this.connections.keys(), (socket) => once(socket, 'close'));
    await Promise.race([Promise.allSettled(closed), after(ms)]);
  }

  /** Also closes connections that never sent data, such as a browser's. Node counts them as active. */
  private closeIdleConnections(): void {
    this.server.closeIdleConnections();
    for (const [socket, { openedAt }] of this.connections) {
      if (socket.bytesRead === 0 && performance.now() - openedAt > FIRST_REQUEST_GRACE_MS)
        socket.destroy();
    }
  }

  /** Accepts queued connections, which would be reset when the server stops listening. */
  private async acceptPendingConnections(): Promise<void> {
    setBacklog(this.server, 0);
    await after(ACCEPT_GRACE_MS);
    // Each turn of the event loop accepts one connection, in its poll phase, which the check phase follows.
    let known: number;
    do {
      known = this.accepted;
      await new Promise(setImmediate);
    } while (this.accepted > known);
  }
}

/** Whether a response ends only with its connection. */
export function isEventStream(response: ServerResponse): boolean {
  return response.getHeader('Content-Type') === 'text/event-stream';
}
