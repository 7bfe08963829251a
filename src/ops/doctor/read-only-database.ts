import type pg from 'pg';
import {
  CONNECTION_SETTINGS,
  TENANT_SETTING,
} from '../../platform/data/connection/session-context.js';
import { WORKER_SETTING } from '../../platform/data/tenant-role/tenant-role.js';

/** A check must not wait behind a lock, nor run for ever. Those of `--deep` read whole tables. */
const LOCK_TIMEOUT = '2s';
const STATEMENT_TIMEOUT = '10min';

/** The settings of each transaction. Those of a session would not reach a server behind a pooler. */
const SETTINGS = Object.entries({
  ...CONNECTION_SETTINGS,
  lock_timeout: LOCK_TIMEOUT,
  statement_timeout: STATEMENT_TIMEOUT,
  [WORKER_SETTING]: 'on',
})
  .map(([name, value]) => `set local ${name} = '${value}'`)
  .join('; ');

/** Reads on one connection. Each statement is a read-only transaction of its own. */
export class ReadOnlyDatabase {
  constructor(private readonly client: pg.Client) {}

  /**
   * Reads rows as the database user.
   * @param organizationId the organization whose rows the policies show. Default: what belongs to none, and the jobs and
   *   events of all.
   */
  async read<Row>(
    text: string,
    values: readonly unknown[] = [],
    organizationId = '',
  ): Promise<Row[]> {
    const organization = this.client.escapeLiteral(organizationId);
    await this.client.query(
      `begin transaction read only; ${SETTINGS}; set local ${TENANT_SETTING} = ${organization}`,
    );
    try {
      return (await this.client.query(text, [...values])).rows as Row[];
    } finally {
      await this.client.query('rollback');
    }
  }

  /** Reads one row. */
  async readOne<Row>(text: string, values: readonly unknown[] = []): Promise<Row> {
    const [row] = await this.read<Row>(text, values);
    if (!row) throw new Error('The statement returned no row.');
    return row;
  }
}
