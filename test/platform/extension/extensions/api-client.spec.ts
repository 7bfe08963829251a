import { Controller, Get, Module } from '@nestjs/common';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { IdDto } from '../../../../src/platform/fields/id.dto.js';
import { ApiRoute } from '../../../../src/platform/http/routes/api-route.decorator.js';
import { TestApp } from '../../../../src/testing/test-app.js';

@Controller('api/v1/numbers')
class NumbersController {
  @Get()
  @AnyKey()
  @ApiRoute({ summary: 'Get a number', response: IdDto })
  get(): IdDto {
    return { id: 5 } as unknown as IdDto;
  }
}

@Module({ controllers: [NumbersController] })
class NumbersModule {}

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start({ modules: [NumbersModule] });
});
afterAll(() => app.stop());

describe('ApiClient', () => {
  it("fails if the data of a team's route is not what the route declares", async () => {
    const { api } = await app.organization();
    await expect(api.get('/api/v1/numbers')).rejects.toThrow(
      'GET /api/v1/numbers does not match the OpenAPI document',
    );
  });
});
