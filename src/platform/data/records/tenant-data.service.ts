import { Inject, Injectable } from '@nestjs/common';
import type { TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { COLUMN_PRIVILEGES } from '../tenant-role/tenant-privileges.js';
import {
  type CountDrift,
  type CountedTable,
  findCountDrift,
  LOCK_REPAIRS,
  repairCounts,
} from './record-counts.js';
import {
  type Counts,
  ROWS_ABOUT_RECORDS,
  type RowsAboutRecords,
} from './record-removal.service.js';
import { updateTimesOf } from './tenant-entity.js';
import { TenantTables } from './tenant-tables.service.js';

/** Rows that one transaction removes. Small batches keep locks short. */
const BATCH = 1_000;

const COUNTERS = 'record_counts';

const NOT_EMPTIED = [COUNTERS, ...Object.keys(COLUMN_PRIVILEGES)].map((name) => `'${name}'`).join();

/**
 * Tables with an `organization_id`, and the tables that each references. Counters are not among them, nor the tables `$1`,
 * nor those of which the tenant role uses some columns only: keys and grants, which are revoked first, and removed with the
 * organization itself.
 */
const TABLES = `
  select c.relname as name, array(
      select parent.relname::text from pg_constraint key
        join pg_class parent on parent.oid = key.confrelid
      where key.conrelid = c.oid and key.contype = 'f' and key.conparentid = 0 and parent.oid <> c.oid) as "refersTo"
  from pg_class c
    join pg_attribute field on field.attrelid = c.oid and field.attname = 'organization_id'
  where c.relkind in ('r', 'p') and not c.relispartition and c.relname not in (${NOT_EMPTIED})
    and c.relnamespace = current_schema()::regnamespace and c.relname <> all($1)
  order by 1`;

interface Table {
  readonly name: string;
  readonly refersTo: readonly string[];
}

/**
 * Counts and removes all data of an organization, in every table with an `organization_id`, and checks and repairs the
 * counts of every table that is declared as counted.
 */
@Injectable()
export class TenantDataService {
  constructor(
    private readonly database: TenantDatabase,
    private readonly tenantTables: TenantTables,
    @Inject(ROWS_ABOUT_RECORDS) private readonly rowsAbout: readonly RowsAboutRecords[],
  ) {}

  /**
   * Counts the rows of an organization by table, without counters.
   * @throws ApiError `query_failed`
   */
  async count(call: TenantCall): Promise<Counts> {
    const counts = (await this.tables(call)).map(
      (table) => `(select count(*)::int from ${table} where organization_id = $1) as ${table}`,
    );
    const text = `select ${counts.join(', ')}`;
    const [row = {}] = await this.database.read<Counts>(call, { text, values: [call.tenant.id] });
    return row;
  }

  /**
   * Removes all rows of an organization. Each batch is one transaction.
   * @param advance called after each batch with the number of removed rows, without counters
   * @returns the number of removed rows by table
   * @throws ApiError `create_failed`
   */
  async remove(call: TenantCall, advance: (rows: number) => void): Promise<Counts> {
    const counts: Record<string, number> = {};
    for (const table of await this.tables(call)) {
      counts[table] = await this.empty(table, call, advance);
    }
    // The removals from other tables have written counters.
    await this.empty(COUNTERS, call, () => undefined);
    return counts;
  }

  /**
   * Compares the counts of an organization with its records.
   * @returns the counts that are wrong
   * @throws ApiError `query_failed`
   */
  checkCounts(call: TenantCall): Promise<CountDrift[]> {
    const values = [call.tenant.id];
    return this.inEachTable((table) =>
      this.database.read<CountDrift>(call, { text: findCountDrift(table), values }),
    );
  }

  /**
   * Corrects the counts of an organization. Requests are served meanwhile.
   * @returns the counts that were wrong
   * @throws ApiError `create_failed`
   */
  repairCounts(call: TenantCall): Promise<CountDrift[]> {
    const values = [call.tenant.id];
    return this.inEachTable((table) =>
      this.database.transaction(call, async ({ transaction }) => {
        await transaction.query({ text: LOCK_REPAIRS, values });
        return transaction.query<CountDrift>({ text: repairCounts(table), values });
      }),
    );
  }

  private async empty(table: string, call: TenantCall, advance: (rows: number) => void) {
    const own = 'organization_id = $1';
    const text = `delete from ${table} where ${own} and ctid = any(array(
      select ctid from ${table} where ${own} limit ${BATCH})) returning 1`;
    let total = 0;
    for (;;) {
      const { length } = await this.database.write(call, { text, values: [call.tenant.id] });
      if (length === 0) return total;
      total += length;
      advance(length);
    }
  }

  /**
   * The tables in the order of removal: referencing tables come before referenced ones. Those with rows about records come
   * last, because changes of records write to them.
   */
  private async tables(call: TenantCall): Promise<string[]> {
    // Triggers remove the times of updates with the records.
    const times = this.tenantTables.all.flatMap((table) => updateTimesOf(table) ?? []);
    const tables = await this.database.read<Table>(call, { text: TABLES, values: [times] });
    const ordered: string[] = [];
    const visited = new Set<string>();
    const visit = ({ name }: Table) => {
      // Also ends the recursion for circular references.
      if (visited.has(name)) return;
      visited.add(name);
      for (const table of tables.filter(({ refersTo }) => refersTo.includes(name))) visit(table);
      ordered.push(name);
    };
    for (const table of tables) visit(table);
    const last = this.rowsAbout.map(({ name }) => name);
    return [...ordered.filter((name) => !last.includes(name)), ...last];
  }

  private async inEachTable(
    find: (table: CountedTable) => Promise<CountDrift[]>,
  ): Promise<CountDrift[]> {
    const found: CountDrift[] = [];
    for (const table of this.tenantTables.counted) found.push(...(await find(table)));
    return found;
  }
}
