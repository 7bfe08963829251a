import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditController } from './audit.controller.js';
import { AuditEntry } from './audit-entry.entity.js';
import { AuditRepository } from './audit.repository.js';
import { AuditService } from './audit.service.js';

/** Reads and cleans up the audit log. */
@Module({
  imports: [TypeOrmModule.forFeature([AuditEntry])],
  controllers: [AuditController],
  providers: [AuditRepository, AuditService],
})
export class AuditModule {}
