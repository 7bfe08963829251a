import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import type { UpsertAction } from '../lead-upsert.dto.js';

/** Lines that one statement removes or empties, so that it ends in time. */
const LINES = 5_000;

/** Bytes of the cells of a page of rejected lines, as they are stored: compressed if they are long. */
const PAGE_BYTES = 65_536;

/** A line that was rejected. */
export interface RejectedLine {
  readonly line: number;
  readonly reason: string;
  /** Those of the file. An erasure of a person empties them. */
  readonly cells: unknown;
}

/** What became of a line. */
export interface LineResult {
  readonly line: number;
  readonly action: UpsertAction | 'rejected';
  /** Null for a rejected line, a lead of a dry run, and an erased one. */
  readonly id: string | null;
}

const TABLES = ['lead_import_rejections', 'lead_import_results'] as const;

/** Removes some lines of imports from a table. */
const removeSql = (table: string, condition: string) => `
  delete from ${table} where organization_id = $1 and ctid = any(array(
    select lines.ctid from lead_imports
    join ${table} lines on lines.organization_id = $1 and import_id = id
    where lead_imports.organization_id = $1 and ${condition} limit ${LINES}))
  returning line`;

/** What stays of a rejected line. A reason can have the name of a custom field, which is that of a column. */
const EMPTIED = `cells = '[]', reason =
  case when reason like '%custom\\_fields.%' then 'custom_fields is not valid' else reason end`;

/** Empties some lines after `$3` of the import `$2` and of later ones that are not empty. Returns the last one. */
const EMPTY_LINES = `
  with lines as (
    select import_id, line from lead_import_rejections
    where organization_id = $1 and (import_id, line) > ($2, $3) and cells::text <> '[]'
    order by import_id, line limit ${LINES}),
  emptied as (
    update lead_import_rejections set ${EMPTIED}
    where organization_id = $1 and (import_id, line) in (select import_id, line from lines))
  select import_id, line from lines order by import_id desc, line desc limit 1`;

const FIRST_LINE = { import_id: '00000000-0000-0000-0000-000000000000', line: 0 };

/** SQL of the lines of imports that were carried out or rejected. */
@Injectable()
export class ImportLinesRepository {
  constructor(private readonly database: TenantDatabase) {}

  /** Stores what became of the lines of a portion. @throws ApiError `create_failed` */
  async store(
    { transaction, tenant }: InTransaction,
    importId: string,
    results: readonly LineResult[],
    rejections: readonly RejectedLine[],
  ): Promise<void> {
    if (rejections.length > 0) {
      // A column of the type json takes \u0000, which the functions of PostgreSQL for JSON refuse.
      const columns = [
        rejections.map(({ line }) => line),
        rejections.map(({ reason }) => reason),
        rejections.map(({ cells }) => JSON.stringify(cells)),
      ];
      await transaction.query({
        text: `insert into lead_import_rejections (organization_id, import_id, line, reason, cells)
          select $1, $2, * from unnest($3::int[], $4::text[], $5::json[])`,
        values: [tenant.id, importId, ...columns],
      });
    }
    if (results.length === 0) return;
    const columns = [
      results.map(({ line }) => line),
      results.map(({ action }) => action),
      results.map(({ id }) => id),
    ];
    await transaction.query({
      text: `insert into lead_import_results (organization_id, import_id, line, action, lead_id)
        select $1, $2, * from unnest($3::int[], $4::text[], $5::uuid[])`,
      values: [tenant.id, importId, ...columns],
    });
  }

  /**
   * The next rejected lines after a line, in their order: fewer than the limit if they are long. After the last one, there
   * are none.
   * @throws ApiError `query_failed`
   */
  findRejected(
    call: TenantCall,
    importId: string,
    after: number,
    limit: number,
  ): Promise<RejectedLine[]> {
    return this.database.read(call, {
      text: `select line, reason, cells from (
          select line, reason, cells,
            sum(pg_column_size(cells)) over (order by line) - pg_column_size(cells) as before
          from lead_import_rejections
          where organization_id = $1 and import_id = $2 and line > $3 order by line limit $4) page
        where before < ${PAGE_BYTES} order by line`,
      values: [call.tenant.id, importId, after, limit],
    });
  }

  /**
   * What became of the lines after a line, in their order.
   * @throws ApiError `query_failed`
   */
  findResults(
    call: TenantCall,
    importId: string,
    after: number,
    limit: number,
  ): Promise<LineResult[]> {
    const ofImport =
      'where organization_id = $1 and import_id = $2 and line > $3 order by line limit $4';
    return this.database.read(call, {
      text: `(select line, action, lead_id as id from lead_import_results ${ofImport})
        union all (select line, 'rejected', null from lead_import_rejections ${ofImport})
        order by line limit $4`,
      values: [call.tenant.id, importId, after, limit],
    });
  }

  /**
   * Empties the cells of all rejected lines, in batches of which each is a transaction of its own.
   * @throws ApiError `create_failed`
   */
  async emptyRejected(call: TenantCall): Promise<void> {
    let last: typeof FIRST_LINE | undefined = FIRST_LINE;
    while (last) {
      const values: unknown[] = [call.tenant.id, last.import_id, last.line];
      [last] = await this.database.write<typeof FIRST_LINE>(call, { text: EMPTY_LINES, values });
    }
  }

  /**
   * Empties the cells of the rejected lines that are left, because they do not tell which person they are about.
   * `emptyRejected` runs before it, so that these are few.
   * @throws ApiError `create_failed`
   */
  async emptyRest({ transaction, tenant }: InTransaction): Promise<void> {
    await transaction.query({
      text: `update lead_import_rejections set cells = '[]' where organization_id = $1 and cells::text <> '[]'`,
      values: [tenant.id],
    });
  }

  /** Removes the ids of leads from the results. @throws ApiError `create_failed` */
  async forgetLeads({ transaction, tenant }: InTransaction, ids: readonly string[]): Promise<void> {
    await transaction.query({
      text: `update lead_import_results set lead_id = null
        where organization_id = $1 and lead_id = any($2::uuid[])`,
      values: [tenant.id, ids],
    });
  }

  /**
   * Removes the lines of imports.
   * @param condition SQL condition of the imports
   * @throws ApiError `create_failed`
   */
  async removeOf(call: TenantCall, condition: string): Promise<void> {
    const values = [call.tenant.id];
    for (const table of TABLES) {
      const text = removeSql(table, condition);
      while ((await this.database.write(call, { text, values })).length > 0);
    }
  }
}
