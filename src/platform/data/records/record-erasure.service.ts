import { Injectable } from '@nestjs/common';
import type { InTransaction } from '../call.js';
import { RecordRemoval } from './record-removal.service.js';

/** The records that an erasure concerns. */
export interface ErasedRecords {
  /** The table of the records to remove. */
  readonly table: string;
  readonly ids: readonly string[];
  /** Records of other tables that stay, whose earlier values are erased. */
  readonly changedIds: readonly string[];
}

/** SQL of the lock of erasures of an organization, which writers of copies of records share. */
export function erasureLockSql(organization: string, mode: '' | '_shared'): string {
  return `pg_advisory_xact_lock${mode}(hashtextextended('erasure ' || ${organization}::uuid, 0))`;
}

/** Removes records for good, and empties what is stored about them elsewhere. */
@Injectable()
export class RecordErasure {
  constructor(private readonly removal: RecordRemoval) {}

  /**
   * Removes records and those that cannot exist without them. Their events keep only the id of the record, stored
   * responses become 404, and rows about them, such as deliveries, are emptied or removed.
   * @returns the ids of all records of which copies were erased
   * @throws ApiError `create_failed`, `internal_error`
   */
  async erase(call: InTransaction, { table, ids, changedIds }: ErasedRecords): Promise<string[]> {
    const removal = await this.removal.remove(call, table, ids);
    const removed = [...new Set([...ids, ...removal.ids])];
    const all = [...new Set([...removed, ...changedIds])];
    await this.query(call, `select ${erasureLockSql('$1', '')}`);
    await this.removal.removeAbout(call, removed, all);
    await this.removeEmptyCounts(call);
    return all;
  }

  /**
   * Removes the counts of values that no record has. Such a value can be free text about a person. The rows are locked
   * before their sums are read, so that no concurrent change is lost.
   */
  private async removeEmptyCounts(call: InTransaction): Promise<void> {
    const counts = `record_counts where organization_id = $1 and filter <> ''`;
    const empty = `(resource, filter, value) in (select resource, filter, value from ${counts}
      group by 1, 2, 3 having sum(records) = 0)`;
    const order = 'order by resource, filter, value, shard';
    await this.query(call, `select from ${counts} and ${empty} ${order} for update`);
    await this.query(call, `delete from ${counts} and ${empty}`);
  }

  private async query({ transaction, tenant }: InTransaction, text: string): Promise<void> {
    await transaction.query({ text, values: [tenant.id] });
  }
}
