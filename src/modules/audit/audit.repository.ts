import { Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import type { CursorPage } from '../../platform/data/lists/page.js';
import { RecordList } from '../../platform/data/lists/record-list.js';
import { AuditEntry } from './audit-entry.entity.js';
import type { AuditEntryDto, AuditQuery } from './audit-entry.dto.js';

/** Rows that one statement removes or changes. Small batches keep locks short. */
const BATCH = 1_000;

/** `$1`: milliseconds. */
const OLDER = `at < now() - $1 * interval '1 ms'`;

const REMOVE = `delete from audit_entries where ctid = any(array(
  select ctid from audit_entries where ${OLDER} order by at limit ${BATCH} for update skip locked)) returning 1`;

const EMPTY_ADDRESSES = `update audit_entries set address = null where ctid = any(array(
  select ctid from audit_entries where ${OLDER} and address is not null order by at limit ${BATCH}
  for update skip locked)) returning 1`;

/** Reads and removes entries of the audit log. `AuditLog` writes them. */
@Injectable()
export class AuditRepository {
  private readonly entries: RecordList<AuditEntryDto>;

  constructor(
    database: TenantDatabase,
    private readonly system: SystemDatabase,
  ) {
    this.entries = new RecordList<AuditEntryDto>(database, { entity: AuditEntry });
  }

  /**
   * The entries of an organization or, in the call of an operator, of this operator.
   * @throws ApiError `query_failed`
   */
  list(call: Call, query: AuditQuery): Promise<CursorPage<AuditEntryDto>> {
    const { type, key_id, record_id, from, to } = query;
    const conditions = new Conditions(call)
      .equal('type', type)
      .equal('key_id', key_id, 'uuid')
      .equal('record_id', record_id, 'uuid')
      .add('at >= ?', from)
      .add('at < ?', to);
    return this.entries.pageAfter(conditions, query);
  }

  /** Removes the entries of all organizations and operators that are older. */
  removeOlder(ageMs: number): Promise<void> {
    return this.inBatches(REMOVE, ageMs);
  }

  /** Empties the addresses of all entries that are older. */
  emptyAddressesOlder(ageMs: number): Promise<void> {
    return this.inBatches(EMPTY_ADDRESSES, ageMs);
  }

  private async inBatches(text: string, ageMs: number): Promise<void> {
    while ((await this.system.inBackground(text, [ageMs])).length === BATCH);
  }
}
