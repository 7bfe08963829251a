import { Injectable } from '@nestjs/common';
import type { Counts } from './record-removal.service.js';
import type { TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';

/** Rows that one transaction removes. Small batches keep locks short. */
const BATCH = 1_000;

const COUNTERS = 'record_counts';

/**
 * Tables that are emptied last, in this order: changes of records write to the outbox, the publisher moves
 * events from the outbox, and removals from other tables write counters.
 */
const LAST = ['event_outbox', 'events', COUNTERS];

/**
 * Tables with an `organization_id`, and the tables that each references. API keys are not among them: they are revoked
 * first, and removed with the organization itself.
 */
const TABLES = `
  select c.relname as name, array(
      select parent.relname::text from pg_constraint key
        join pg_class parent on parent.oid = key.confrelid
      where key.conrelid = c.oid and key.contype = 'f' and key.conparentid = 0 and parent.oid <> c.oid) as "refersTo"
  from pg_class c
    join pg_attribute field on field.attrelid = c.oid and field.attname = 'organization_id'
  where c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'api_keys'
    and c.relnamespace = current_schema()::regnamespace
  order by 1`;

interface Table {
  readonly name: string;
  readonly refersTo: readonly string[];
}

/** Counts and removes all data of an organization, in every table with an `organization_id`. */
@Injectable()
export class TenantDataService {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Counts the rows of an organization by table, without counters.
   * @throws ApiError `query_failed`
   */
  async count(call: TenantCall): Promise<Counts> {
    const counts: Record<string, number> = {};
    for (const table of await this.tables(call)) {
      if (table === COUNTERS) continue;
      const [row] = await this.database.read<{ count: number }>(call, {
        text: `select count(*)::int as count from ${table} where organization_id = $1`,
        values: [call.tenant.id],
      });
      counts[table] = row?.count ?? 0;
    }
    return counts;
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
      let total = 0;
      let removed: number;
      do {
        removed = await this.removeBatch(table, call);
        total += removed;
        if (table !== COUNTERS) advance(removed);
      } while (removed > 0);
      if (table !== COUNTERS) counts[table] = total;
    }
    return counts;
  }

  private async removeBatch(table: string, call: TenantCall): Promise<number> {
    const own = 'organization_id = $1';
    const rows = await this.database.write(call, {
      text: `delete from ${table} where ${own} and ctid = any(array(
          select ctid from ${table} where ${own} limit ${BATCH}))
        returning 1`,
      values: [call.tenant.id],
    });
    return rows.length;
  }

  /** The tables in the order of removal: referencing tables come before referenced ones. */
  private async tables(call: TenantCall): Promise<string[]> {
    const tables = await this.database.read<Table>(call, { text: TABLES, values: [] });
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
    return [...ordered.filter((name) => !LAST.includes(name)), ...LAST];
  }
}
