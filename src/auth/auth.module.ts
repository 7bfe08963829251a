import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RateLimitModule } from '../rate-limit/rate-limit.module.js';
import { ApiKeyGuard } from './api-key.guard.js';
import { ApiKey } from './api-key.entity.js';
import { AuthRepository } from './auth.repository.js';
import { Authenticator } from './authenticator.js';
import { KeysService } from './keys.service.js';
import { MeController } from './me.controller.js';
import { Organization } from './organization.entity.js';
import { ScopesGuard } from './scopes.guard.js';

@Module({
  imports: [TypeOrmModule.forFeature([Organization, ApiKey]), RateLimitModule],
  controllers: [MeController],
  providers: [AuthRepository, Authenticator, KeysService, ApiKeyGuard, ScopesGuard],
  exports: [Authenticator, KeysService, ApiKeyGuard, ScopesGuard],
})
export class AuthModule {}
