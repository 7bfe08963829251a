import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ADMINISTRATION } from '../database/connection/administration.js';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { ApiKey } from './api-key.entity.js';
import { AuthRepository } from './auth.repository.js';
import { Authenticator } from './authenticator.js';
import { KeyRevalidation } from './key-revalidation.js';
import { KeysService } from './keys.service.js';
import { MeController } from './me.controller.js';
import { Organization } from './organization.entity.js';
import { OrganizationActors } from './organization-actors.service.js';
import { OrganizationRemovalService } from './organization-removal.service.js';
import { ScopesGuard } from './scopes.guard.js';
import { TokenActors } from './token-actors.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([Organization, ApiKey], ADMINISTRATION),
    // Needed for the relations of the record entities. The tenant role may not read the table.
    TypeOrmModule.forFeature([Organization]),
    RateLimitModule,
  ],
  controllers: [MeController],
  providers: [
    AuthRepository,
    Authenticator,
    KeyRevalidation,
    KeysService,
    OrganizationRemovalService,
    OrganizationActors,
    TokenActors,
    ApiKeyGuard,
    ScopesGuard,
  ],
  exports: [
    Authenticator,
    KeyRevalidation,
    KeysService,
    OrganizationRemovalService,
    OrganizationActors,
    ApiKeyGuard,
    ScopesGuard,
  ],
})
export class AuthModule {}
