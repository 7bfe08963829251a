import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ADMINISTRATION } from '../../platform/data/connection/data-source-names.js';
import { AccessModule } from '../../platform/access/access.module.js';
import { ApiKey } from './api-key.entity.js';
import { AuthRepository } from './auth.repository.js';
import { ApiKeysService } from './api-keys.service.js';
import { KeysController } from './keys.controller.js';
import { KeysRepository } from './keys.repository.js';
import { KeysService } from './keys.service.js';
import { OperatorsRepository } from './operators.repository.js';
import { OperatorsService } from './operators.service.js';
import { OrganizationsController } from './organizations.controller.js';
import { MeController, OrganizationController } from './organization.controller.js';
import { OrganizationService } from './organization.service.js';
import { Organization } from './organization.entity.js';
import { OrganizationRemovalService } from './organization-removal.service.js';

/** Manages organizations and their keys. */
@Module({
  imports: [
    // Repositories use this data source, because the tenant role may not read these tables.
    TypeOrmModule.forFeature([Organization, ApiKey], ADMINISTRATION),
    // Only for the relations of the entities of records.
    TypeOrmModule.forFeature([Organization]),
    AccessModule,
  ],
  controllers: [MeController, OrganizationController, KeysController, OrganizationsController],
  providers: [
    AuthRepository,
    ApiKeysService,
    KeysRepository,
    KeysService,
    OperatorsRepository,
    OperatorsService,
    OrganizationService,
    OrganizationRemovalService,
  ],
  exports: [AccessModule, KeysService, OperatorsService, OrganizationRemovalService],
})
export class AuthModule {}
