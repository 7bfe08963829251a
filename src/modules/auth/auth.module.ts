import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ADMINISTRATION } from '../../platform/data/connection/data-source-names.js';
import { AccessModule } from '../../platform/access/access.module.js';
import { ApiKey } from './api-key.entity.js';
import { AuthRepository } from './auth.repository.js';
import { KeysService } from './keys.service.js';
import { MeController } from './me.controller.js';
import { Organization } from './organization.entity.js';
import { OrganizationRemovalService } from './organization-removal.service.js';

/** Manages organizations and their keys. */
@Module({
  imports: [
    TypeOrmModule.forFeature([Organization, ApiKey], ADMINISTRATION),
    // Needed for the relations of the record entities. The tenant role may not read the table.
    TypeOrmModule.forFeature([Organization]),
    AccessModule,
  ],
  controllers: [MeController],
  providers: [AuthRepository, KeysService, OrganizationRemovalService],
  exports: [AccessModule, KeysService, OrganizationRemovalService],
})
export class AuthModule {}
