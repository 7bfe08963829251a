import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Lead } from './lead.entity.js';
import { LeadComplianceService } from './lead-compliance.service.js';
import { LeadsCompletions } from './leads.completions.js';
import { LeadsController } from './leads.controller.js';
import { LeadsRepository } from './leads.repository.js';
import { LeadsService } from './leads.service.js';
import { LeadsTools } from './leads.tools.js';

@Module({
  imports: [TypeOrmModule.forFeature([Lead])],
  controllers: [LeadsController],
  providers: [LeadsRepository, LeadsService, LeadsTools, LeadsCompletions, LeadComplianceService],
  exports: [LeadsService, LeadComplianceService],
})
export class LeadsModule {}
