import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import type { Call } from '../../platform/data/call.js';
import { isByCursor } from '../../platform/data/lists/list-query.js';
import type { CursorPage } from '../../platform/data/lists/page.js';
import { Job } from '../../platform/jobs/job.decorator.js';
import type { AuditEntryDto, AuditQuery } from './audit-entry.dto.js';
import { AuditRepository } from './audit.repository.js';

/** How long addresses of clients are kept: 90 days. */
const ADDRESSES_MS = 90 * 24 * 60 * 60 * 1_000;

/** Reads and cleans up the audit log (docs/contract/audit.md). */
@Injectable()
export class AuditService {
  constructor(
    private readonly repository: AuditRepository,
    private readonly settings: Settings,
  ) {}

  /**
   * A page of the entries, by default the newest ones first.
   * @throws ApiError `query_failed`
   */
  list(call: Call, query: AuditQuery): Promise<CursorPage<AuditEntryDto>> {
    return this.repository.list(call, isByCursor(query) ? query : { ...query, before: '' });
  }

  /** Removes old entries, and the addresses of others. */
  @Job({ name: 'latitude.audit-clean-up', every: '1h' })
  async cleanUp(): Promise<void> {
    await this.repository.removeOlder(this.settings.auditRetention);
    await this.repository.emptyAddressesOlder(ADDRESSES_MS);
  }
}
