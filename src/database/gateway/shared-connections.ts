import pg from 'pg';

/** A connection whose last statement began or ended longer ago is not given further ones. */
const RESPONSIVE_MS = 10;

interface SharedConnection {
  readonly client: Promise<pg.PoolClient>;
  running: number;
  /** When the connection got its first statement, or last completed one, in `performance.now()`. */
  respondedAt: number;
}

/**
 * Connections on which several callers send statements without waiting for earlier responses. PostgreSQL runs
 * the statements of a connection one after the other. A statement that waits for a lock delays those behind it,
 * so further ones are sent on other connections.
 */
export class SharedConnections {
  private readonly open = new Set<SharedConnection>();

  /**
   * @param pool its clients have pg's pipeline mode
   * @param preferred how many statements share a connection before a further connection is used
   */
  constructor(
    private readonly pool: pg.Pool,
    private readonly preferred: number,
  ) {}

  /** @throws any error of the driver or of `work` */
  async run<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const connection = this.select();
    if (connection.running++ === 0) connection.respondedAt = performance.now();
    try {
      return await work(await connection.client);
    } catch (error) {
      // The connection may be lost.
      if (!(error instanceof pg.DatabaseError)) this.open.delete(connection);
      throw error;
    } finally {
      connection.running--;
      connection.respondedAt = performance.now();
      if (connection.running === 0) this.release(connection);
    }
  }

  /** Uses none of the current connections for further statements. */
  renew(): void {
    this.open.clear();
  }

  private select(): SharedConnection {
    const now = performance.now();
    const responsive = [...this.open].filter((each) => now - each.respondedAt < RESPONSIVE_MS);
    const preferred = responsive.find(({ running }) => running < this.preferred);
    if (preferred) return preferred;
    if (this.open.size < this.pool.options.max) return this.connect();
    const candidates = responsive.length > 0 ? responsive : [...this.open];
    return candidates.reduce((fewest, other) => (other.running < fewest.running ? other : fewest));
  }

  private connect(): SharedConnection {
    const connection = { client: this.pool.connect(), running: 0, respondedAt: 0 };
    this.open.add(connection);
    connection.client.catch(() => this.open.delete(connection));
    return connection;
  }

  private release(connection: SharedConnection): void {
    this.open.delete(connection);
    connection.client.then(
      (client) => {
        client.release();
      },
      () => undefined,
    );
  }
}
