import { Controller, Get, Module, Query } from '@nestjs/common';
import { IsOptional, IsString } from 'class-validator';
import { AnyKey } from '../../../../src/platform/http/access.js';
import { Decimal } from '../../../../src/platform/fields/kinds/decimal.js';
import { DateTime, Flag, Integer, Tags } from '../../../../src/platform/fields/kinds/kinds.js';
import { dataOf, errorOf, expectInvalid } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const PATH = '/api/v1/query-fields';

class FieldsQuery {
  @Flag() open?: boolean;
  @Flag({ default: true }) shown?: boolean;
  @Tags() tags?: string[];
  @Integer({ min: 1, max: 9 }) count?: number;
  @Decimal({ precision: 9, scale: 2 }) price?: string;
  @DateTime() at?: Date;
}

class MixedQuery extends FieldsQuery {
  @IsOptional() @IsString({ each: true }) ids?: string[];
}

@Controller(PATH)
class QueryFieldsController {
  @Get('fields')
  @AnyKey()
  fields(@Query() query: FieldsQuery) {
    return query;
  }

  @Get('mixed')
  @AnyKey()
  mixed(@Query() query: MixedQuery) {
    return query;
  }
}

@Module({ controllers: [QueryFieldsController] })
class QueryFieldsModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [QueryFieldsModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

const DEFAULTS = { shown: true, tags: [] };

describe.each(['fields', 'mixed'])('fields in a query, with the DTO %s', (dto) => {
  const get = (query: string) => tenant.api.get(`${PATH}/${dto}?${query}`);

  it.each([
    ['open=true&shown=false', { open: true, shown: false, tags: [] }],
    ['tags=a', { shown: true, tags: ['a'] }],
    ['tags=a&tags=%20b%20&tags=a', { shown: true, tags: ['a', 'b'] }],
    ['tags=a,b', { shown: true, tags: ['a,b'] }],
    ['count=5&price=2.5&at=2026-01-02', { count: 5, price: '2.50' }],
    ['open=', DEFAULTS],
  ])('are read from text: %s', async (query, expected) => {
    expect(dataOf(await get(query))).toMatchObject(expected);
  });

  it.each([
    ['open=1', 'open', 'must be true or false'],
    ['open=True', 'open', 'must be true or false'],
    ['open=true&open=true', 'open', 'must be given only once'],
    ['count=5&count=5', 'count', 'must be given only once'],
    ['shown=', 'shown', 'must not be empty'],
    ['tags=', 'tags', 'must not be empty'],
    ['tags=a&tags=', 'tags', 'must be strings of 1 to 50 characters each'],
  ])('are refused if their text is invalid: %s', async (query, field, message) => {
    const answer = await get(query);
    expectInvalid(answer, field);
    expect(errorOf(answer).details).toEqual([{ field, message }]);
  });
});
