import { Controller, Module, SetMetadata, type Type } from '@nestjs/common';
import { createDatabase, dropDatabase } from '../../../src/testing/databases.js';
import { TestApp } from '../../../src/testing/test-app.js';

/** As that of `@nestjs/websockets`. */
const WebSocketGateway = () => SetMetadata('websockets:is_gateway', true);

/** As that of `@nestjs/microservices`. */
const EventPattern = () => SetMetadata('microservices:pattern', ['deal.paid']);

@WebSocketGateway()
class DealsGateway {}

@Controller()
class DealsListener {
  @EventPattern()
  paid() {
    return null;
  }
}

@Module({ controllers: [DealsListener], providers: [DealsGateway] })
class TransportsModule {}

describe('startup', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => dropDatabase(database));

  const failureOf = (module: Type<unknown>) =>
    TestApp.start({ modules: [module], database }).then(
      async (app) => {
        await app.stop();
        return ['started'];
      },
      (error: unknown) => (error as Error).message.split('\n'),
    );

  it('fails if a provider is a gateway, or a method handles messages of a microservice', async () => {
    expect(await failureOf(TransportsModule)).toEqual([
      'DealsGateway is a @WebSocketGateway(), whose clients would connect without a key. Send events with @Sse(), or run the gateway as an application of its own.',
      'DealsListener.paid has a @MessagePattern() or @EventPattern(), but nothing would call it, because the server has no microservice. Run the listener as an application of its own, which calls the API.',
    ]);
  });
});
