import { Module, ParseBoolPipe, ParseIntPipe, Scope } from '@nestjs/common';
import { APP_PIPE, ModulesContainer, NestFactory } from '@nestjs/core';
import { globalEnhancers } from './global-enhancers.js';

class RequestPipe extends ParseIntPipe {}

@Module({
  providers: [
    { provide: APP_PIPE, useClass: ParseBoolPipe },
    { provide: APP_PIPE, useClass: RequestPipe, scope: Scope.REQUEST },
  ],
})
class PipesModule {}

it('finds the global pipes of modules, also those of each request', async () => {
  const app = await NestFactory.create(PipesModule, { logger: false });
  expect(globalEnhancers(app.get(ModulesContainer), APP_PIPE)).toEqual([
    expect.any(ParseBoolPipe),
    expect.any(RequestPipe),
  ]);
  await app.close();
});
