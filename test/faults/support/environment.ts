import pg from 'pg';
import type { Connection } from '../../../src/ops/embedded-postgres/connection.js';
import { ApiClient } from '../../../src/testing/api-client.js';
import { createOrganization } from '../../support/command-line.js';
import { Product, type RunningServer, UNLIMITED } from '../../support/servers/product.js';
import { TcpProxy } from '../../support/servers/tcp-proxy.js';
import type { Postgres } from './postgres.js';

/** The built server, its own PostgreSQL and a proxy between them. */
export class FaultEnvironment {
  private constructor(
    readonly postgres: Postgres,
    readonly proxy: TcpProxy,
    readonly server: RunningServer,
    /** API key with all scopes. */
    readonly key: string,
    private readonly product: Product,
  ) {}

  /** @param env of the server */
  static start(postgres: Postgres, env: Record<string, string> = {}): Promise<FaultEnvironment> {
    return FaultEnvironment.create(postgres, env).catch(async (error: unknown) => {
      // A running PostgreSQL would keep Jest from exiting.
      await postgres.stop();
      throw error;
    });
  }

  private static async create(
    postgres: Postgres,
    env: Record<string, string>,
  ): Promise<FaultEnvironment> {
    const proxy = await TcpProxy.to(postgres.connection);
    const { user, host, port, database } = proxy.target as Connection;
    const url = `postgres://${user}@${host}:${port}/${database}`;
    const product = new Product({ DATABASE_URL: url, ...UNLIMITED });
    const server = await product.start(env);
    const { key } = await createOrganization(product.environment);
    return new FaultEnvironment(postgres, proxy, server, key, product);
  }

  get url(): string {
    return this.server.url;
  }

  /** Creates one more organization, with a client that has all scopes. */
  async organization(): Promise<{ id: string; api: ApiClient }> {
    const { id, key } = await createOrganization(this.product.environment);
    return { id, api: new ApiClient(this.url, key) };
  }

  /** A direct connection as superuser, without the proxy. */
  async client(): Promise<pg.Client> {
    const client = new pg.Client(this.postgres.connection);
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    await this.product.remove();
    await this.proxy.close();
    await this.postgres.stop();
  }
}
