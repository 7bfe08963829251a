import pg from 'pg';
import type { DatabaseTarget } from '../../../src/platform/data/connection/data-source-options.js';
import { configOf, query } from '../../../src/testing/databases.js';

/** PostgreSQL reports to these connections each of their waits for a lock that takes more than 100 ms. */
const REPORT_LOCK_WAITS = [
  'deadlock_timeout=100ms',
  'log_lock_waits=on',
  'client_min_messages=log',
];

const FIND_TABLES = `
  select relname as name, (select quote_ident(attname) from pg_attribute
    where attrelid = c.oid and attnum > 0 and attidentity = '' and attgenerated = ''
    order by attnum limit 1) as column
  from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r'
    and relname !~ 'migrations|typeorm_metadata'`;

/** A writer and a reader on each table of a database. Each statement is a transaction. */
export class TableLoad {
  /** The waits for locks of more than 100 ms that PostgreSQL has reported. */
  readonly lockWaits: string[] = [];
  /** The number of statements that ended. */
  statements = 0;
  private readonly clients: Promise<void>[] = [];
  private isStopped = false;

  private constructor(private readonly database: DatabaseTarget) {}

  static async start(database: DatabaseTarget): Promise<TableLoad> {
    const load = new TableLoad(database);
    const tables = await query<{ name: string; column: string }>(database, FIND_TABLES);
    for (const { name, column } of tables) {
      const row = `(select ctid from ${name} limit 1)`;
      load.clients.push(
        load.repeat(`update ${name} set ${column} = ${column} where ctid = ${row}`),
        load.repeat(`select from ${name} limit 1`),
      );
    }
    return load;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all(this.clients);
  }

  private async repeat(statement: string): Promise<void> {
    const options = REPORT_LOCK_WAITS.map((setting) => `-c ${setting}`).join(' ');
    const client = new pg.Client({ ...configOf(this.database), options });
    client.on('notice', ({ message = '' }) => {
      if (message.includes('still waiting')) this.lockWaits.push(`${message}: ${statement}`);
    });
    await client.connect();
    while (!this.isStopped) {
      await client.query(statement);
      this.statements++;
    }
    await client.end();
  }
}
