import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessModule } from '../../platform/access/access.module.js';
import { ApiKey } from './api-key.entity.js';
import { CredentialsModule } from './credentials.module.js';
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
import { OrganizationsRepository } from './organizations.repository.js';
import { OrganizationRemovalService } from './organization-removal.service.js';

/** Manages organizations and their keys. */
@Module({
  imports: [TypeOrmModule.forFeature([Organization, ApiKey]), AccessModule, CredentialsModule],
  controllers: [MeController, OrganizationController, KeysController, OrganizationsController],
  providers: [
    ApiKeysService,
    KeysRepository,
    KeysService,
    OperatorsRepository,
    OperatorsService,
    OrganizationService,
    OrganizationsRepository,
    OrganizationRemovalService,
  ],
  exports: [AccessModule, KeysService, OperatorsService, OrganizationRemovalService],
})
export class AuthModule {}
