import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { RateLimits } from './limits/rate-limits.js';
import { AccessRepository } from './access.repository.js';
import { Authenticator } from './authenticator.js';
import { KeyRevalidation } from './key-revalidation.js';
import { OrganizationCalls } from './organization-calls.service.js';
import { TokenCalls } from './token-calls.service.js';

/** Finds the callers of requests, and counts their requests against the rate limits. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    AccessRepository,
    Authenticator,
    KeyRevalidation,
    OrganizationCalls,
    TokenCalls,
    RateLimits,
  ],
  exports: [
    AccessRepository,
    Authenticator,
    KeyRevalidation,
    OrganizationCalls,
    RateLimits,
    TokenCalls,
  ],
})
export class AccessModule {}
