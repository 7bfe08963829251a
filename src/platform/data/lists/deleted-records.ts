import type { Type } from '@nestjs/common';
import { FurtherRule, namesOf } from '../../fields/field.js';
import { Flag } from '../../fields/kinds/kinds.js';
import { TimeOf } from '../../fields/kinds/record-fields.js';
import { problemRule } from '../../fields/kinds/rules.js';
import type { TenantCall } from '../call.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';
import { DELETED_AT, tableOf } from '../records/tenant-entity.js';
import { RecordColumns } from '../records/stored-record.js';
import { Conditions } from './conditions.js';
import { parseCursor } from './cursor.js';
import type { ListQuery } from './list-query.js';
import { type CursorRow, pageByCursor } from './list-statement.js';
import { CursorPage } from './page.js';

/** The parameters that a list of deleted records takes. */
export type DeletedQuery = Pick<ListQuery, 'limit'> & { readonly after?: string };

const ALLOWED_WITH_DELETED: readonly string[] = ['limit', 'after'] satisfies (keyof DeletedQuery)[];

const NOT_WITH_DELETED = problemRule('isWithoutDeleted', (_, { deleted }) =>
  deleted === true ? 'cannot be given together with deleted' : undefined,
);

/**
 * Declares the parameter that lists deleted records. Declare it last: every other parameter of the class but `limit` and
 * `after` is refused together with it.
 * @param records such as `leads`
 */
export function ListDeleted(records: string): PropertyDecorator {
  const description = `Lists the deleted ${records} instead, the most recently deleted first, by cursor. Only \`limit\` and \`after\` can be given with it.`;
  const declare = Flag({ description, example: false, isAlternative: true });
  return (target, property) => {
    const others = namesOf(target.constructor as Type<object>);
    for (const name of others) {
      if (!ALLOWED_WITH_DELETED.includes(name)) FurtherRule(NOT_WITH_DELETED)(target, name);
    }
    declare(target, property);
  };
}

/** The time at which a record was deleted. */
export function DeletedAt(): PropertyDecorator {
  return TimeOf('When it was deleted.', { required: true });
}

/** Reads the deleted records of a table by cursor, the most recently deleted first. */
export class DeletedRecords<T extends object> {
  private readonly columns: RecordColumns<T>;

  /**
   * @param item the class of an item, with fields of the entity and `deleted_at`
   * @param condition SQL condition of the records that are listed. It must never come from a caller.
   */
  constructor(
    private readonly database: TenantDatabase,
    private readonly entity: Type<object>,
    item: Type<T>,
    private readonly condition = 'true',
  ) {
    this.columns = new RecordColumns(item);
  }

  /** @throws ApiError `query_failed` */
  async pageAfter(call: TenantCall, { after = '', limit }: DeletedQuery): Promise<CursorPage<T>> {
    const { columns, jsonColumns, parser } = this.columns;
    const { name: table } = tableOf(this.entity);
    const order = { column: DELETED_AT, direction: 'desc', nullable: false } as const;
    const conditions = new Conditions(call, `deleted_at is not null and ${this.condition}`);
    const cursor = parseCursor(after);
    if (cursor) conditions.after(cursor, order);
    const paging = { order, limit, offset: 0, isCounted: false };
    const text = pageByCursor({ table, columns, jsonColumns, conditions, ...paging });
    const { values } = conditions;
    const statement = { text, values, plan: 'custom', mayUseReplica: true } as const;
    const [row] = (await this.database.read<CursorRow>(call, statement)) as [CursorRow];
    const { next, has_more } = row;
    return new CursorPage<T>(parser.list(row.items).json, { next: next ?? after, has_more });
  }
}
