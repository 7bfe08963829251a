import { Body, Controller, Get, Module, Post, Query } from '@nestjs/common';
import { IsString } from 'class-validator';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { dataOf, expectInvalid } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

class Undeclared {
  name: string;
}

class One {
  @IsString() one: string;
}

class Two {
  @Text({ max: 9, required: true }) one: string;
}

@Controller('api/v1/odd')
class OddController {
  @Post('class')
  @AnyKey()
  undeclared(@Body() body: Undeclared) {
    return body;
  }

  @Get('query')
  @AnyKey()
  undeclaredQuery(@Query() query: Undeclared) {
    return query;
  }

  @Get('nested')
  @AnyKey()
  nested(@Query('filter') filter: One) {
    return filter;
  }

  @Post('two')
  @AnyKey()
  two(@Body() one: One, @Body() two: Two) {
    return [one, two].map((each) => each.constructor.name);
  }
}

@Module({ controllers: [OddController] })
class OddModule {}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [OddModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

describe('a class without a declared property', () => {
  it('refuses every property', async () => {
    expectInvalid(await tenant.api.post('/api/v1/odd/class', { name: 'a' }), 'name');
    expectInvalid(await tenant.api.get('/api/v1/odd/query?name=a'), 'name');
  });
});

it('a text is no object of a class', async () => {
  expectInvalid(await tenant.api.get('/api/v1/odd/nested?filter=a'), 'filter');
});

it('two classes for one body are both read', async () => {
  const path = '/api/v1/odd/two';
  expect(dataOf(await tenant.api.post(path, { one: 'a' }), 201)).toEqual(['One', 'Two']);
  expectInvalid(await tenant.api.post(path, { one: 'longer than nine' }), 'one');
});
