import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../platform/data/audit/audit-log.js';
import type { Call } from '../../../platform/data/call.js';
import { FieldDefinitionsService } from '../../custom-fields/field-definitions.service.js';
import { LeadsService } from '../leads.service.js';
import { exportLeads } from './export-leads.js';
import type { LeadExportQuery } from './lead-export.dto.js';

/** Exports of leads (docs/contract/exports.md). */
@Injectable()
export class LeadExportsService {
  constructor(
    private readonly leads: LeadsService,
    private readonly definitions: FieldDefinitionsService,
    private readonly audit: AuditLog,
  ) {}

  /**
   * All leads that match, as a file. An export without an entry of the audit log is refused.
   * @param signal ends the stream with an error
   * @throws ApiError `validation_error`, `overloaded`, `query_failed`
   */
  async export(call: Call, query: LeadExportQuery, signal?: AbortSignal): Promise<Readable> {
    const keys = await this.definitions.keysOf(call);
    const lines = await exportLeads(this.leads, call, query, signal, keys);
    try {
      await this.audit.addRead(call, ['export.read', null]);
    } catch (error) {
      lines.destroy();
      throw error;
    }
    return lines;
  }
}
