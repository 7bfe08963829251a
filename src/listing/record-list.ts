import type { Type } from '@nestjs/common';
import { jsonColumnsOf, StoredItems } from '../database/stored-record.js';
import type { Statement, TenantDatabase } from '../database/tenant-database.js';
import type { TenantTable } from '../database/tenant-repository.js';
import { namesOf } from '../fields/field.js';
import type { Conditions } from './conditions.js';
import { KnownTotals } from './known-totals.js';
import type { ListQuery } from './list-query.js';
import {
  countedPage,
  FEW,
  firstPage,
  knownPage,
  type ListRow,
  searchedPage,
  type Slice,
} from './list-statement.js';
import type { Order } from './order.js';
import { Page } from './page.js';

/** What a list reads; never text from a caller. */
export interface ListSource<T extends object> {
  readonly table: TenantTable;
  /** The fields of an item, which are columns of the table. */
  readonly item: Type<T>;
  /** The column of the default order, in which the index of each counted column is. */
  readonly order: string;
}

/** Reads pages of a table with their exact totals, each in one statement. */
export class RecordList<T extends object> {
  private readonly columns: readonly string[];
  private readonly answered: string;
  private readonly totals = new KnownTotals();

  constructor(
    private readonly database: TenantDatabase,
    private readonly source: ListSource<T>,
  ) {
    this.columns = namesOf(source.item);
    this.answered = jsonColumnsOf(source.item);
  }

  /** @throws ApiError `query_failed` */
  async page(
    conditions: Conditions,
    { page, limit, sort_dir: direction }: ListQuery,
    sort: Omit<Order, 'direction'>,
  ): Promise<Page<T>> {
    const { columns, answered } = this;
    const slice: Slice = {
      ...{ table: this.source.table.name, columns, answered, conditions, limit },
      ...{ order: { ...sort, direction }, offset: (page - 1) * limit },
    };
    const { total, items } = await this.read(slice);
    return new Page(new StoredItems(this.source.item, `[${items ?? ''}]`), { page, limit, total });
  }

  private read(slice: Slice): Promise<ListRow> {
    const { conditions, order, offset } = slice;
    if (!this.isCounted(conditions)) return this.search(slice);
    const filter = conditions.soleEquality;
    const isIndexed = !filter || order.column === this.source.order;
    if (isIndexed && offset === 0) return this.run(slice, firstPage(slice, filter));
    const plan = isIndexed ? 'prepared' : 'custom';
    return this.run(slice, { ...countedPage(slice, filter), plan });
  }

  private async search(slice: Slice): Promise<ListRow> {
    const { sql, values } = slice.conditions;
    const key = JSON.stringify([sql, values]);
    const known = this.totals.get(key);
    const row = await this.run(slice, known ? knownPage(slice, known) : searchedPage(slice));
    const { total, version } = row;
    // Without counts there is no version that would tell of a change.
    const isWorthKeeping = this.source.table.counted && total > FEW && version !== undefined;
    if (isWorthKeeping) this.totals.set(key, { total, version });
    else this.totals.delete(key);
    return row;
  }

  private async run({ conditions }: Slice, statement: Statement): Promise<ListRow> {
    const rows = await this.database.read<ListRow>(conditions.organizationId, statement);
    return rows[0] ?? { total: 0, items: null };
  }

  private isCounted({ areNone, soleEquality }: Conditions): boolean {
    const { counted } = this.source.table;
    if (!counted) return false;
    return areNone || (soleEquality !== undefined && counted.includes(soleEquality.column));
  }
}
