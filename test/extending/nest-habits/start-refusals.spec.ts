import { All, Controller, Get, Injectable, Module, SetMetadata, type Type } from '@nestjs/common';
import { AnyKey } from '../../../src/auth/access.js';
import { IdDto } from '../../../src/fields/id.dto.js';
import { ApiRoute } from '../../../src/http/openapi/api-route.decorator.js';
import { Tool } from '../../../src/mcp/tools/tool.decorator.js';
import { createDatabase, dropDatabase } from '../../../src/testing/databases.js';
import { failureOfStart } from '../../support/failure-of-start.js';

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

@Controller('api/v1/deals')
class DealsController {
  @Get()
  @AnyKey()
  list() {
    return null;
  }

  @Get(':id')
  @AnyKey()
  get() {
    return null;
  }
}

@Controller('api/v1/deals')
class DealsFallback {
  @All()
  @AnyKey()
  refuse() {
    return null;
  }

  @All(':deal')
  @AnyKey()
  refuseOne() {
    return null;
  }
}

@Module({ controllers: [DealsController, DealsFallback] })
class VerbBeforeAllModule {}

@Module({ controllers: [DealsFallback, DealsController] })
class AllBeforeVerbModule {}

@Controller('api/v1/reports')
class ReportsController {
  @Get()
  @AnyKey()
  list() {
    return null;
  }

  @All()
  @AnyKey()
  refuseOthers() {
    return null;
  }
}

@Module({ controllers: [ReportsController] })
class AllAfterVerbModule {}

@Controller()
class PagesController {
  @Get('*')
  @AnyKey()
  show() {
    return null;
  }
}

@Module({ controllers: [PagesController] })
class EveryPathModule {}

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

  it.each<[string, Type<unknown>, string]>([
    ['after', VerbBeforeAllModule, 'DealsController.list and by DealsFallback.refuse'],
    ['before', AllBeforeVerbModule, 'DealsFallback.refuse and by DealsController.list'],
  ])(
    'fails if @All() has the path of a method of another controller that is declared %s it',
    async (_, module, owners) => {
      expect(await failureOf(module)).toEqual([
        `GET /api/v1/deals is declared by ${owners}. Change the path of one of them.`,
        expect.stringMatching(/^GET \/api\/v1\/deals\/:(id|deal) is declared by/),
      ]);
    },
  );

  it('fails if a route matches every path', async () => {
    expect(await failureOf(EveryPathModule)).toEqual([
      'GET /* is declared by UnknownRoutesController.answer and by PagesController.show. Change the path of one of them.',
    ]);
  });

  it('accepts @All() after other methods of its controller', async () => {
    expect(await failureOf(AllAfterVerbModule)).toEqual(['started']);
  });

  it('fails if @ApiRoute() names an error code that does not exist', async () => {
    expect(await failureOf(OffersModule)).toEqual([
      'GET /api/v1/offers names the unknown error codes no_such_code, toString in @ApiRoute(). Use codes of Latitude, or declare them in the errors of an extension.',
    ]);
  });

  it('fails if a path has a pattern', async () => {
    expect(await failureOf(InvoicesModule)).toEqual([
      'The path /api/v1/invoices/:id(\\d+) is not valid, because paths of Express 5 have no patterns such as (\\d+), no ? and no +. Check a parameter with a pipe such as ParseIntPipe, and write an optional part as {/:id}.',
    ]);
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
