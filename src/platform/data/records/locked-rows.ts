import type { TenantCall } from '../call.js';
import type { Transaction } from '../gateway/transaction.js';
import type { JsonRow } from './record-statements.js';

/** The records that transactions have locked and read, until each is used. */
export class LockedRows {
  private readonly rows = new WeakMap<Transaction, Map<string, JsonRow>>();

  add(transaction: Transaction, rows: readonly JsonRow[]): void {
    this.rows.set(transaction, new Map(rows.map((row) => [row.id, row])));
  }

  /** Returns a record of the transaction of a call once, because its update changes it. */
  take({ transaction }: TenantCall, id: string): JsonRow | undefined {
    const rows = transaction && this.rows.get(transaction);
    const row = rows?.get(id.toLowerCase());
    rows?.delete(id.toLowerCase());
    return row;
  }
}
