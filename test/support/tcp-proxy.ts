import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import type { DatabaseTarget } from '../../src/database/connection/data-source-options.js';

type Address = { host: string; port: number } | { path: string };
type Pair = readonly [client: Socket, server: Socket];

/** Stands between Latitude and its PostgreSQL, so that a test can cut the way, block it or slow it. */
export class TcpProxy {
  /** Milliseconds that everything takes each way. */
  delayMs = 0;
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

  /** The database, reached through this proxy. */
  get target(): DatabaseTarget {
    const { port } = this.server.address() as AddressInfo;
    if (!('url' in this.database)) return { ...this.database, host: '127.0.0.1', port };
    const url = new URL(this.database.url);
    url.host = `127.0.0.1:${port}`;
    return { url: url.href };
  }

  /** Breaks every connection and refuses new ones, or lets them through again. */
  setOpen(open: boolean): void {
    this.isOpen = open;
    if (!open) for (const pair of this.pairs) destroy(pair);
  }

  /** Ends the connections of now as a router does that has lost its tables. */
  reset(): void {
    for (const [client, server] of this.pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  }

  /** Never again passes anything on over the connections of now, as a lost route does. */
  blackhole(): void {
    for (const pair of this.pairs) {
      pause(pair);
      this.pairs.delete(pair);
      this.blackholed.add(pair);
    }
  }

  /** Keeps back whatever is sent, over connections of now and new ones, until it is released. */
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
