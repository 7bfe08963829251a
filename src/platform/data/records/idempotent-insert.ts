/** SQL that the statement of an insert contains, so that its records are inserted once and the response is stored with them. */
export interface IdempotentInsertSql {
  /** Declares the columns of the requests in `$3` that the other parts use, in addition to the `id` of the record. */
  readonly columns: string;
  /** CTE `claim`: the ids of those rows of `request` whose records are inserted. */
  readonly claim: string;
  /** CTE that stores the responses to the requests whose records are in `written`. */
  readonly store: string;
}

/** How the record that a call inserts next is inserted once. */
export interface IdempotentInsert {
  readonly sql: IdempotentInsertSql;
  /** The values of the columns for a record. */
  valuesOf(id: string, json: string): object;
}

/** Nothing was inserted, for example because another request with the same key is or was carried out. */
export class NothingInserted extends Error {}
