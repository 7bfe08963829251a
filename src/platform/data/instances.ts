import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SessionContext } from './connection/session-context.js';
import { SystemDatabase } from './gateway/system-database.js';

/** How long a count is reused. */
const FRESH_MS = 10_000;

/** What the names of the connections of servers begin with. */
const SERVER = 'latitude server';

/** The view `pg_stat_activity` would join the databases and users, which takes several milliseconds to plan. */
export const COUNT_INSTANCES = `
  select count(distinct application_name)::int as instances from pg_stat_get_activity(null)
  where datid = (select oid from pg_database where datname = current_database())
    and application_name like '${SERVER} %'`;

/** Returns a unique name for the database connections of a server. */
export function nameOfServer(): string {
  return `${SERVER} ${randomUUID().slice(0, 8)}`;
}

/**
 * Finds the servers that are connected to the database. If there may be others, sessions of /mcp are looked up in the
 * database, and a warning says if the servers do not share their rate limits.
 */
@Injectable()
export class Instances {
  private latest: { startedAt: number; count: Promise<number> } | undefined;

  constructor(
    private readonly database: SystemDatabase,
    private readonly context: SessionContext,
  ) {}

  /**
   * Returns whether other servers may use the database now. It is also true without prepared statements, as
   * behind some connection poolers, where the names of connections are not reliable.
   */
  async mayShareDatabase(): Promise<boolean> {
    if (!this.context.preparesStatements) return true;
    return this.find().then(
      (count) => count !== 1,
      () => true,
    );
  }

  /** Returns the number of servers, including this one. The result is at most ten seconds old; 1 if the database does not reply. */
  count(): Promise<number> {
    const now = performance.now();
    if (!this.latest || now - this.latest.startedAt > FRESH_MS) {
      const count = this.find().catch(() => {
        this.latest = undefined;
        // Readiness reports the reason.
        return 1;
      });
      this.latest = { startedAt: now, count };
    }
    return this.latest.count;
  }

  private async find(): Promise<number> {
    const rows = await this.database.read<{ instances: number }>(COUNT_INSTANCES);
    return rows[0]?.instances ?? 1;
  }
}
