import { Body, Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { RouterModule } from '@nestjs/core';
import { Throttle } from '@nestjs/throttler';
import { IsOptional, IsString } from 'class-validator';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { RecordOf } from '../../../../src/platform/fields/field.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import type { OpenApiDocument } from '../../../../src/platform/http/openapi/model.js';
import { RequireScope } from '../../../../src/platform/http/routes/access.js';
import { ApiRoute } from '../../../../src/platform/http/routes/api-route.decorator.js';
import { dataOf, expectError } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { describeExtensions, documentOf } from '../../../support/openapi.js';

class CreatePartDto {
  @Text({ max: 9, required: true }) name: string;
}

class PartDto extends RecordOf(CreatePartDto) {}

class PartFilter {
  @IsOptional() @IsString() name?: string;
}

@Controller('parts')
class PartsController {
  @Get(':id')
  @RequireScope('leads:read')
  @ApiRoute({ summary: 'Get a part', response: PartDto })
  get(@Param('id') id: string): PartDto {
    return { id, name: 'bolt' };
  }

  @Post()
  @RequireScope('leads:write')
  @ApiRoute({ summary: 'Create a part', response: PartDto })
  create(@Body() { name }: CreatePartDto): PartDto {
    return { id: '01a1fbde-995e-72a3-a032-ab1c988b9794', name };
  }

  @Get()
  @Throttle({ default: { limit: 1, ttl: 60_000 } })
  @RequireScope('leads:read')
  list(@Query() { name }: PartFilter) {
    return { name };
  }
}

@Module({ controllers: [PartsController] })
class PartsModule {}

@Module({ controllers: [PartsController] })
class SparePartsModule {}

@Module({
  imports: [
    PartsModule,
    SparePartsModule,
    RouterModule.register([
      { path: 'api/v1/acme', children: [{ path: 'stock', module: PartsModule }] },
      { path: 'api/v1/spare', module: SparePartsModule },
    ]),
  ],
})
class AcmeModule {}

const extension = defineExtension({ name: 'acme-parts', module: AcmeModule });

const PATHS = ['/api/v1/acme/stock/parts', '/api/v1/spare/parts'];

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ extensions: [extension] });
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('the OpenAPI document of modules with a path of RouterModule', () => {
  it.each<[string, () => Promise<OpenApiDocument>]>([
    ['of the server', () => documentOf(app)],
    ['of the command', () => describeExtensions([extension])],
  ])('has this path on each route: %s', async (_, create) => {
    const { paths } = await create();
    const own = Object.keys(paths).filter((path) => path.includes('parts'));
    expect(own).toEqual(PATHS.flatMap((path) => [path, `${path}/{id}`]));
    for (const path of PATHS) {
      expect(paths[path]).toMatchObject({
        get: { 'x-required-scope': 'leads:read', parameters: [{ name: 'name', in: 'query' }] },
        post: { 'x-required-scope': 'leads:write', requestBody: { required: true } },
      });
    }
  });
});

describe.each(PATHS)('a route of a module with a path of RouterModule: %s', (path) => {
  it('requires a key with its scope', async () => {
    expectError(await app.client().get(path), 401, 'unauthorized');
    const reader = await app.key(tenant.id, ['leads:read']);
    expectError(await reader.api.post(path, { name: 'nut' }), 403, 'insufficient_scope');
  });

  it('has the limit that it declares', async () => {
    expect(dataOf(await tenant.api.get(`${path}?name=nut`))).toEqual({ name: 'nut' });
    expectError(await tenant.api.get(path), 429, 'rate_limit_exceeded');
  });

  it('reads its inputs, and returns the path of what it has created', async () => {
    expectError(await tenant.api.post(path, { name: 'a long name' }), 400, 'validation_error');
    const created = await tenant.api.post(path, { name: 'nut' });
    const { id } = dataOf<PartDto>(created, 201);
    expect(created.headers.get('location')).toBe(`${path}/${id}`);
  });

  it('is found at its whole path, which names its methods to others', async () => {
    expectError(await tenant.api.get('/parts'), 404, 'not_found');
    const wrong = await tenant.api.delete(path);
    expectError(wrong, 404, 'not_found');
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST');
  });
});
