import {
  type CanActivate,
  ConflictException,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  HttpException,
  Module,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { RequireScope } from '../../../../src/platform/http/access.js';
import { ApiError } from '../../../../src/platform/errors/api-error.js';
import { IdDto } from '../../../../src/platform/fields/id.dto.js';
import { ApiRoute } from '../../../../src/platform/http/openapi/api-route.decorator.js';
import type { OpenApiDocument } from '../../../../src/platform/http/openapi/model.js';
import type { ApiRequest } from '../../../../src/platform/http/request/api-request.js';
import { errorOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { lint } from '../../../support/openapi.js';

const PLANS = '/api/v1/plans';

const ERRORS: Readonly<Record<string, () => Error>> = {
  forbidden: () => new ForbiddenException('The plan has no messages.'),
  own: () => new ForbiddenException('The plan has ended.', { errorCode: 'plan_ended' }),
  payment: () => new HttpException('Pay first.', 402),
  latitude: () => new ApiError('compliance_blocked'),
  conflict: () => new ConflictException(),
};

/** Throws what a header of the request names, as a guard for plans or features does. */
class PlanGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<ApiRequest>();
    const makeError = ERRORS[String(headers['x-plan'])];
    if (makeError) throw makeError();
    return headers['x-plan'] !== 'none';
  }
}

@Controller(PLANS)
@UseGuards(PlanGuard)
class PlansController {
  @Get()
  @RequireScope('leads:read')
  @ApiRoute({ summary: 'Get the plan', response: IdDto })
  get(): IdDto {
    return { id: '01a1fbde-995e-72a3-a032-ab1c988b9794' };
  }
}

@Controller('api/v1/unguarded')
class UnguardedController {
  @Get()
  @RequireScope('leads:read')
  get() {
    return {};
  }
}

@Module({ controllers: [PlansController, UnguardedController] })
class PlansModule {}

@Module({ providers: [{ provide: APP_GUARD, useClass: PlanGuard }] })
class GlobalGuardModule {}

const CASES: [plan: string, status: number, code: string][] = [
  ['forbidden', 403, 'forbidden'],
  ['own', 403, 'plan_ended'],
  ['none', 403, 'forbidden'],
  ['payment', 402, 'payment_required'],
  ['latitude', 422, 'compliance_blocked'],
  ['conflict', 409, 'conflict'],
];

describe('the errors of a guard with @UseGuards() that declares nothing', () => {
  let app: TestApp;
  let tenant: Tenant;
  let document: OpenApiDocument;
  beforeAll(async () => {
    app = await TestApp.start({ modules: [PlansModule] });
    tenant = await app.organization();
    document = (await app.client().get('/openapi.json')).body as OpenApiDocument;
  });
  afterAll(() => app.stop());

  it.each(CASES)('%s: %i with the code %s', async (plan, status, code) => {
    const answer = await tenant.api.get(PLANS, { headers: { 'X-Plan': plan } });
    expect(answer.status).toBe(status);
    expect(errorOf(answer).code).toBe(code);
  });

  it('are allowed by the document, in addition to the errors of Latitude', () => {
    const { responses } = document.paths[PLANS]!.get!;
    expect(responses).toMatchObject({
      403: { $ref: '#/components/responses/InsufficientScopeOrOther' },
      default: { $ref: '#/components/responses/OtherError' },
    });
    expect(document.components.responses).toMatchObject({
      InsufficientScopeOrOther: {
        headers: { 'WWW-Authenticate': { required: false } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    });
  });

  it('do not change the document of other routes', () => {
    for (const path of ['/api/v1/unguarded', LEADS]) {
      const { responses } = document.paths[path]!.get!;
      expect(responses[403]).toEqual({ $ref: '#/components/responses/InsufficientScope' });
      expect(responses).not.toHaveProperty('default');
    }
  });

  it('leave the document valid', async () => {
    const problems = await lint(document);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});

describe('the errors of a guard with APP_GUARD', () => {
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await TestApp.start({ modules: [GlobalGuardModule] });
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  it.each(CASES)("%s: %i with the code %s on Latitude's routes", async (plan, status, code) => {
    const answer = await tenant.api.get(LEADS, { headers: { 'X-Plan': plan } });
    expect(answer.status).toBe(status);
    expect(errorOf(answer).code).toBe(code);
  });

  it('leave the errors of Latitude as they are', async () => {
    const reader = await app.key(tenant.id, ['tasks:read']);
    expectError(await reader.api.get(LEADS), 403, 'insufficient_scope');
  });
});
