import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import type { DatabaseTarget } from '../../src/database/data-source-options.js';

type Address = { host: string; port: number } | { path: string };

/** Stands between Latitude and its PostgreSQL, so that a test can cut the way or silence it. */
export class TcpProxy {
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private open = true;

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
    this.open = open;
    if (!open) for (const sockets of this.pairs) for (const socket of sockets) socket.destroy();
  }

  /** Never again passes anything on over the connections of now, as a lost route does. */
  silence(): void {
    for (const [client, server] of this.pairs) {
      client.unpipe().pause();
      server.unpipe().pause();
    }
  }

  async close(): Promise<void> {
    this.setOpen(false);
    await new Promise((resolve) => this.server.close(resolve));
  }

  private connect(client: Socket): void {
    if (!this.open) {
      client.destroy();
      return;
    }
    const server = net.connect(addressOf(this.database));
    const pair = [client, server] as const;
    this.pairs.add(pair);
    client.pipe(server).pipe(client);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
  }
}

function addressOf(database: DatabaseTarget): Address {
  if ('url' in database) {
    const { hostname, port } = new URL(database.url);
    return { host: hostname, port: Number(port || 5432) };
  }
  const { host, port } = database;
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}
