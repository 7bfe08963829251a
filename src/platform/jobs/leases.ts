import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SystemDatabase } from '../data/gateway/system-database.js';
import { BackgroundWork } from './background-work.js';

/** How long a lease lasts unless it is extended. After this time, others take the work of a process that was killed. */
export const LEASE = `interval '20 seconds'`;

/** How often leases are extended: several times while they last. */
const HEARTBEAT_MS = 5_000;

/** A table of work. The lease of a row says that one instance carries it out, and until when. */
interface LeasedTable {
  readonly name: string;
  /** The column with the end of the lease. */
  readonly until: string;
  /** The columns that identify a lease, with their types. */
  readonly key: Readonly<Record<string, string>>;
  /** SQL condition of the rows with a lease. */
  readonly isLeased: string;
}

/** Extends the leases of the work that this instance carries out. The statements that take and return them are those of the tables. */
@Injectable()
export class Leases implements OnApplicationBootstrap {
  private readonly held = new Map<LeasedTable, Set<object>>();

  constructor(
    private readonly database: SystemDatabase,
    private readonly background: BackgroundWork,
  ) {}

  onApplicationBootstrap(): void {
    const failure = 'the leases of running work could not be extended';
    // After the drain, a stop waits for running work for a shorter time than the rest of its leases.
    const options = { forRunningWork: true };
    this.background.repeat(HEARTBEAT_MS, () => this.extend(), failure, options);
  }

  /**
   * Runs the work of a row that was taken, and extends its lease meanwhile.
   * @param row has the columns of the key
   */
  async during<T>(table: LeasedTable, row: object, work: () => Promise<T>): Promise<T> {
    const rows = this.held.get(table) ?? new Set();
    this.held.set(table, rows.add(row));
    try {
      return await work();
    } finally {
      rows.delete(row);
    }
  }

  private async extend(): Promise<void> {
    const extensions = Array.from(this.held, async ([table, rows]) => {
      if (rows.size > 0)
        await this.database.inBackground(extensionOf(table), [valuesOf(table, rows)], OPTIONS);
    });
    await Promise.all(extensions);
  }
}

/** A later extension makes up for one that is late or that a crash undoes. */
const OPTIONS = { mayBeUndone: true, timeoutMs: HEARTBEAT_MS };

function extensionOf({ name, until, key, isLeased }: LeasedTable): string {
  const columns = Object.keys(key).join(', ');
  const types = Object.entries(key).map(([column, type]) => `${column} ${type}`);
  return `update ${name} set ${until} = now() + ${LEASE}
    where (${columns}) in (select ${columns} from json_to_recordset($1) as held (${types.join(', ')}))
      and ${isLeased}`;
}

/** The keys of rows as JSON. */
function valuesOf({ key }: LeasedTable, rows: Iterable<object>): string {
  return JSON.stringify([...rows], ['', ...Object.keys(key)]);
}
