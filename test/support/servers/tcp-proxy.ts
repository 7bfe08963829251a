import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import type { DatabaseTarget } from '../../../src/platform/data/connection/data-source-options.js';

type Address = { host: string; port: number } | { path: string };
type Pair = readonly [client: Socket, server: Socket];

/** A TCP proxy in front of PostgreSQL that can break, block or delay connections. */
export class TcpProxy {
  /** Delay in each direction, in milliseconds. */
  delayMs = 0;
  /** Number of new connections that were closed because the proxy is not open. */
  refused = 0;
  private readonly pairs = new Set<Pair>();
  private readonly blackholed = new Set<Pair>();
  private isOpen = true;
  private isPaused = false;

  private constructor(
    private readonly server: net.Server,
    private readonly database: DatabaseTarget,
  ) {}

  static async to(database: DatabaseTarget): Promise<TcpProxy> {
    const server = net.createServer();
    const proxy = new TcpProxy(server, database);
    server.on('connection', (socket) => {
      proxy.connect(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** The database through this proxy. */
  get target(): DatabaseTarget {
    const { port } = this.server.address() as AddressInfo;
    if (!('url' in this.database)) return { ...this.database, host: '127.0.0.1', port };
    const url = new URL(this.database.url);
    url.host = `127.0.0.1:${port}`;
    return { url: url.href };
  }

  /** Closes all connections and refuses new ones, or accepts them again. */
  setOpen(open: boolean): void {
    this.isOpen = open;
    if (!open) for (const pair of this.pairs) destroy(pair);
  }

  /** Resets the open connections. */
  reset(): void {
    for (const [client, server] of this.pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Stops forwarding data of the open connections, as a lost route does. */
  blackhole(): void {
    for (const pair of this.pairs) {
      pause(pair);
      this.pairs.delete(pair);
      this.blackholed.add(pair);
    }
  }

  /** Holds the data of all connections back until `resumeTraffic`. */
  pauseTraffic(): void {
    this.isPaused = true;
    for (const pair of this.pairs) pause(pair);
  }

  resumeTraffic(): void {
    this.isPaused = false;
    for (const pair of this.pairs) for (const socket of pair) socket.resume();
  }

  async close(): Promise<void> {
    this.setOpen(false);
    for (const pair of this.blackholed) destroy(pair);
    await new Promise((resolve) => this.server.close(resolve));
  }

  private connect(client: Socket): void {
    if (!this.isOpen) {
      this.refused++;
      client.destroy();
      return;
    }
    const server = net.connect(addressOf(this.database));
    const pair = [client, server] as const;
    this.pairs.add(pair);
    client.once('close', () => this.pairs.delete(pair));
    this.pass(client, server);
    this.pass(server, client);
    if (this.isPaused) pause(pair);
  }

  private pass(from: Socket, to: Socket): void {
    let passed = Promise.resolve();
    const inTurn = (step: () => unknown) => {
      const due = this.delayMs > 0 ? after(this.delayMs) : undefined;
      passed = passed.then(() => due).then(() => void step());
    };
    from.on('error', () => undefined);
    from.on('data', (chunk) => {
      inTurn(() => to.destroyed || to.write(chunk));
    });
    from.once('close', () => {
      inTurn(() => {
        to.destroySoon();
      });
    });
  }
}

function pause(pair: Pair): void {
  for (const socket of pair) socket.pause();
}

function destroy(pair: Pair): void {
  for (const socket of pair) socket.destroy();
}

function addressOf(database: DatabaseTarget): Address {
  if ('url' in database) {
    const { hostname, port } = new URL(database.url);
    return { host: hostname, port: Number(port || 5432) };
  }
  const { host, port } = database;
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}
