import { All, Controller, Get, Injectable, Module, SetMetadata, type Type } from '@nestjs/common';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { IdDto } from '../../../../src/platform/fields/id.dto.js';
import { ApiRoute } from '../../../../src/platform/http/routes/api-route.decorator.js';
import { Tool } from '../../../../src/modules/mcp/tools/tool.decorator.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { failureOfStart } from '../../../support/failure-of-start.js';

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

@Controller('api/v1/offers')
class OffersController {
  @Get()
  @AnyKey()
  @ApiRoute({
    summary: 'List offers',
    response: IdDto,
    errors: ['not_found', 'no_such_code' as 'not_found', 'toString' as 'not_found'],
  })
  list() {
    return { id: 'x' };
  }
}

@Module({ controllers: [OffersController] })
class OffersModule {}

@Controller('api/v1/invoices')
class InvoicesController {
  @Get(':id(\\d+)')
  @AnyKey()
  get() {
    return null;
  }
}

@Module({ controllers: [InvoicesController] })
class InvoicesModule {}

@Controller('spa')
class EveryPathController {
  @All('*')
  @AnyKey()
  show() {
    return null;
  }
}

@Module({ controllers: [EveryPathController] })
class EveryPathModule {}

const OPTIONS = {
  title: 'Count',
  description: 'Count the deals.',
  effect: 'reads',
  scope: 'any-key',
  output: IdDto,
} as const;

class UndeclaredDto {
  anything: Map<string, string>;
}

@Injectable()
class UndeclaredTools {
  @Tool('count_offers', { ...OPTIONS, input: UndeclaredDto })
  count() {
    return { id: 'x' };
  }
}

@Module({ providers: [UndeclaredTools] })
class UndeclaredModule {}

@Injectable()
class DealsTools {
  @Tool('count_deals', OPTIONS)
  count() {
    return { id: 'x' };
  }
}

@Module({ providers: [DealsTools] })
class DealsModule {}

@Module({ imports: [DealsModule], providers: [DealsTools] })
class SalesModule {}

describe('startup', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => dropDatabase(database));

  const failureOf = (module: Type<unknown>) => failureOfStart(module, database);

  it('fails if a provider is a gateway, or a method handles messages of a microservice', async () => {
    expect(await failureOf(TransportsModule)).toEqual([
      'DealsGateway is a @WebSocketGateway(), whose clients would connect without a key. Send events with @Sse(), or run the gateway as an application of its own.',
      'DealsListener.paid has a @MessagePattern() or @EventPattern(), but nothing would call it, because the server has no microservice. Run the listener as an application of its own, which calls the API.',
    ]);
  });

  it('fails if @ApiRoute() names an error code that does not exist', async () => {
    expect(await failureOf(OffersModule)).toEqual([
      'GET /api/v1/offers names the unknown error codes no_such_code, toString in @ApiRoute(). Use codes of Latitude, or declare them in the errors of an extension.',
    ]);
  });

  it('fails if a path has a pattern, and names the path', async () => {
    expect((await failureOf(InvoicesModule)).join()).toContain('/api/v1/invoices/:id(\\d+)');
  });

  it('accepts a route of every path below a prefix', async () => {
    expect(await failureOf(EveryPathModule)).toEqual(['started']);
  });

  it('fails if the input of a tool declares no property', async () => {
    expect(await failureOf(UndeclaredModule)).toEqual([
      'The tool count_offers takes UndeclaredDto, which declares no property to read. Declare its properties with fields such as @Text() or rules such as @IsString(), or remove the input.',
    ]);
  });

  it('fails if two modules provide the class of a tool', async () => {
    expect(await failureOf(SalesModule)).toEqual([
      'count_deals of /mcp is declared by DealsTools, which DealsModule and SalesModule provide. Provide it in one of these modules, and import this module in the other.',
    ]);
  });
});
