import { Get, Query } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { RequireScopeOrOperator } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { AuditEntryDto, AuditQuery } from './audit-entry.dto.js';
import { AuditService } from './audit.service.js';

/** The audit log over REST (docs/contract/audit.md). */
@ApiController('audit', 'Audit', 'Who has changed what an organization depends on.')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @RequireScopeOrOperator('audit:read')
  @ApiRoute({
    summary: 'List entries of the audit log',
    description:
      'By default the newest first. The key of an operator lists what was done by this operator and to its keys.',
    response: [AuditEntryDto],
    paging: 'cursor',
  })
  list(@CurrentCall() call: Call, @Query() query: AuditQuery) {
    return this.audit.list(call, query);
  }
}
