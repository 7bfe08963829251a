import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, DiscoveryModule } from '@nestjs/core';
import { AccessGuard } from './guards/access.guard.js';
import { AccessModule } from '../access/access.module.js';
import { ErrorFilter } from './error.filter.js';
import { RequestLimits } from './guards/request-limits.js';
import { AccessCheck } from './access-check.js';
import { HealthController } from './health/health.controller.js';
import { HealthService } from './health/health.service.js';
import { RoutePlans } from './route-plans.js';
import { Idempotency } from './response/idempotency.js';
import { IdempotencyRepository } from './response/idempotency.repository.js';
import { IdempotentResponses, WriteInterceptor } from './response/write.interceptor.js';
import { BatchLimit } from './guards/batch-limit.js';
import { InputGuard } from './guards/input.guard.js';
import { ApiDescription } from './openapi/api-description.js';
import { OpenApiController } from './openapi/openapi.controller.js';
import { UnknownRoutesController } from './unknown-routes.controller.js';

/** The guards of all routes, in the order in which they run. */
const GUARDS = [AccessGuard, InputGuard];

/**
 * The guards and the error filter of all routes, the plans of the routes, and the controllers of health, the OpenAPI document and
 * unknown routes.
 */
@Module({
  imports: [AccessModule, DiscoveryModule],
  controllers: [HealthController, OpenApiController, UnknownRoutesController],
  providers: [
    RoutePlans,
    Idempotency,
    IdempotencyRepository,
    IdempotentResponses,
    // `RoutePlans` binds it: a global interceptor would also slow reads down.
    WriteInterceptor,
    RequestLimits,
    AccessCheck,
    ApiDescription,
    HealthService,
    BatchLimit,
    ...GUARDS.map((guard) => ({ provide: APP_GUARD, useClass: guard })),
    { provide: APP_FILTER, useClass: ErrorFilter },
  ],
  exports: [HealthService, Idempotency, IdempotentResponses, RequestLimits, WriteInterceptor],
})
export class HttpModule {}
