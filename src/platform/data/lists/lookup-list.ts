import type { Type } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../call.js';
import type { SystemDatabase } from '../gateway/system-database.js';
import type { JsonRow } from '../records/record-statements.js';
import { jsonColumnsOf, RecordParser, type Stored } from '../records/stored-record.js';
import type { ListQuery } from './list-query.js';
import type { ListRow } from './list-statement.js';
import { Page } from './page.js';

/**
 * Base class of repositories of a table that the tenant role may not use and that has few records of an organization, such
 * as that of keys. The list is ordered by `created_at`.
 */
export abstract class LookupList<T extends object> {
  protected readonly parser: RecordParser<T>;
  /** SQL of the record with the id `$2` that belongs to `$1`. */
  private readonly one: string;

  /**
   * @param source SQL of the rows that belong to the tenant `$1`. Its columns are the fields of the DTO.
   */
  constructor(
    protected readonly database: SystemDatabase,
    private readonly dto: Type<T>,
    private readonly source: string,
  ) {
    this.parser = new RecordParser(dto);
    this.one = this.json('where id = $2');
  }

  /** @throws ApiError `query_failed` */
  async page({ tenant }: TenantCall, { page, limit, sort_dir: dir }: ListQuery): Promise<Page<T>> {
    const rows = this.json(`order by source.created_at ${dir}, id ${dir} limit $2 offset $3`);
    const text = `select (select count(*)::int from (${this.source}) source) as total,
      (select string_agg(json, ',') from (${rows}) item) as items`;
    const values = [tenant.id, limit, (page - 1) * limit];
    const [row] = await this.database.read<ListRow>(text, values);
    return new Page(this.parser.list(row?.items), { page, limit, total: row?.total ?? 0 });
  }

  /** @throws ApiError `query_failed` */
  async find({ tenant }: TenantCall, id: string): Promise<Stored<T> | undefined> {
    const [row] = await this.database.read<JsonRow>(this.one, [tenant.id, id]);
    return row && this.parser.stored(row);
  }

  /**
   * Like `find`, as the record is in the transaction.
   * @throws ApiError `create_failed`
   */
  async findIn(call: InTransaction, id: string): Promise<Stored<T> | undefined> {
    const [row] = await this.runIn<JsonRow>(call, this.one, id);
    return row && this.parser.stored(row);
  }

  /** Runs a statement as the database user, because the tenant role may not use the table. `$1` is the tenant. */
  protected runIn<Row>(
    { transaction, tenant: { id } }: InTransaction,
    text: string,
    ...values: readonly unknown[]
  ): Promise<Row[]> {
    return transaction.query<Row>({ text, values: [id, ...values], asDatabaseUserOf: id });
  }

  private json(selection: string): string {
    return `select id, row_to_json(record)::text as json from (
      select ${jsonColumnsOf(this.dto)} from (${this.source}) source ${selection}) record`;
  }
}
