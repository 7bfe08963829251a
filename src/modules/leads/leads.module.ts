import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { CustomFieldsModule } from '../custom-fields/custom-fields.module.js';
import { HttpModule } from '../../platform/http/http.module.js';
import { EventsModule } from '../events/events.module.js';
import { ContactIdentityRepository } from './contact-identity/contact-identity.repository.js';
import { ContactIdentityService } from './contact-identity/contact-identity.service.js';
import { LeadCustomFieldsService } from './lead-custom-fields.service.js';
import { DeletedLeadsService } from './deleted-leads.service.js';
import { LeadFailuresService } from './lead-failures.service.js';
import { LeadComplianceService } from './lead-compliance.service.js';
import { LeadsController } from './leads.controller.js';
import { LeadsRepository } from './leads.repository.js';
import { LeadsService } from './leads.service.js';
import { LeadsTools } from './leads.tools.js';
import { LineReasons } from './transfer/line-reasons.js';
import { DuplicatesRepository } from './duplicates/duplicates.repository.js';
import { DuplicatesService } from './duplicates/duplicates.service.js';
import { LeadFormsJobs } from './duplicates/lead-forms.jobs.js';
import { LeadFormsRepository } from './duplicates/lead-forms.repository.js';
import { LeadFormsService } from './duplicates/lead-forms.service.js';
import { LeadUpsertService } from './lead-upsert.service.js';
import { LeadPersonService } from './lead-person.service.js';
import { LeadMergeService } from './lead-merge.service.js';
import { LeadBatchService } from './lead-batch.service.js';
import { ImportErasureRepository } from './transfer/import-erasure.repository.js';
import { ImportLinesRepository } from './transfer/import-lines.repository.js';
import { ImportMonitor } from './transfer/import-monitor.js';
import { LeadImportRunner } from './transfer/lead-import-runner.js';
import { LeadImportsController } from './transfer/lead-imports.controller.js';
import { LeadImportsRepository } from './transfer/lead-imports.repository.js';
import { LeadExportsService } from './transfer/lead-exports.service.js';
import { LeadImportsService } from './transfer/lead-imports.service.js';

@Module({
  imports: [AuthModule, CustomFieldsModule, EventsModule, HttpModule],
  // `imports` comes before `:id` of LeadsController.
  controllers: [LeadImportsController, LeadsController],
  providers: [
    LeadsRepository,
    LeadsService,
    LeadCustomFieldsService,
    LeadFailuresService,
    DeletedLeadsService,
    LeadBatchService,
    ImportMonitor,
    ImportLinesRepository,
    LeadImportsRepository,
    ImportErasureRepository,
    LeadExportsService,
    LeadImportsService,
    LineReasons,
    LeadImportRunner,
    LeadUpsertService,
    LeadMergeService,
    LeadFormsRepository,
    LeadFormsService,
    LeadFormsJobs,
    DuplicatesRepository,
    DuplicatesService,
    LeadPersonService,
    LeadsTools,
    LeadComplianceService,
    ContactIdentityRepository,
    ContactIdentityService,
  ],
  exports: [LeadsService, LeadPersonService, LeadComplianceService, ContactIdentityService],
})
export class LeadsModule {}
