import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
  Scope,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR, ApplicationConfig } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Entity, PrimaryColumn } from 'typeorm';
import type { Request } from 'express';
import { AnyKey, Public } from '../../../../src/platform/http/routes/access.js';
import { IdDto } from '../../../../src/platform/fields/id.dto.js';
import { Prompt } from '../../../../src/modules/mcp/prompts/prompt.decorator.js';
import { Tool } from '../../../../src/modules/mcp/tools/tool.decorator.js';
import { createDatabase, dropDatabase } from '../../../../src/testing/databases.js';
import { queryAs } from '../../../support/database/plain-owner.js';
import { failureOfStart } from '../../../support/failure-of-start.js';

const PING = {
  title: 'Ping',
  description: 'Ping.',
  effect: 'reads',
  scope: 'any-key',
  output: IdDto,
} as const;

@Injectable({ scope: Scope.REQUEST })
class RequestTool {
  @Tool('ping', PING)
  ping() {
    return { id: 'x' };
  }
}

@Module({ providers: [RequestTool] })
class RequestToolModule {}

@Injectable()
class RepeatedTool {
  @Tool('list_leads', PING)
  list() {
    return { id: 'x' };
  }
}

@Module({ providers: [RepeatedTool] })
class RepeatedToolModule {}

@Controller()
class RepeatedRoutes {
  @Post('visits')
  @AnyKey()
  add() {
    return null;
  }

  @Post(['visits', 'calls'])
  @AnyKey()
  addAgain() {
    return null;
  }
}

/** Other hosts have other routes. */
@Controller({ path: 'visits', host: 'other.example.com' })
class OtherHost {
  @Post()
  @AnyKey()
  add() {
    return null;
  }
}

@Module({ controllers: [RepeatedRoutes, OtherHost] })
class RepeatedRoutesModule {}

@Injectable({ scope: Scope.TRANSIENT })
class TransientTool {
  @Tool('pong', PING)
  pong() {
    return { id: 'x' };
  }
}

@Module({ providers: [TransientTool] })
class TransientToolModule {}

@Injectable({ scope: Scope.REQUEST })
class RequestService {}

class NoInput {}

@Injectable()
class DependentPrompt {
  constructor(readonly service: RequestService) {}

  @Prompt('greet', { title: 'Greet', description: 'Greet.', scopes: [], input: NoInput })
  greet() {
    return ['Hello'];
  }
}

@Module({ providers: [RequestService, DependentPrompt] })
class DependentPromptModule {}

/** A table of a team that holds records of organizations. */
@Entity('visits')
class Visit {
  @PrimaryColumn('uuid') organization_id: string;
  @PrimaryColumn('uuid') id: string;
}

@Module({ imports: [TypeOrmModule.forFeature([Visit])] })
class VisitsModule {}

@Injectable()
class NamedTool {
  @Tool('acme.ping pong', PING)
  ping() {
    return { id: 'x' };
  }
}

@Module({ providers: [NamedTool] })
class NamedToolModule {}

/** As that of `@nestjs/cache-manager`. */
@Injectable()
class CacheInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler) {
    return next.handle();
  }

  protected trackBy(context: ExecutionContext): string {
    return context.switchToHttp().getRequest<Request>().url;
  }
}

@Injectable()
class OrganizationCache extends CacheInterceptor {
  protected override trackBy(context: ExecutionContext): string {
    return `organization ${super.trackBy(context)}`;
  }
}

@Injectable()
class FasterCache extends CacheInterceptor {}

@Controller('cached')
class CachedController {
  @Get()
  @AnyKey()
  @UseInterceptors(OrganizationCache)
  own() {
    return null;
  }

  @Get('page')
  @Public()
  @UseInterceptors(CacheInterceptor)
  page() {
    return null;
  }

  @Get('shared')
  @AnyKey()
  @UseInterceptors(FasterCache)
  shared() {
    return null;
  }
}

@Module({ controllers: [CachedController] })
class CachedModule {}

@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: FasterCache, scope: Scope.REQUEST }] })
class EverywhereCachedModule {}

@Module({})
class UseGlobalCachedModule {
  constructor(config: ApplicationConfig) {
    config.useGlobalInterceptors(new FasterCache());
  }
}

@Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: OrganizationCache }] })
class OrganizationCachedModule {}

const CREATE_VISITS = `create table visits (organization_id uuid, id uuid,
  primary key (organization_id, id))`;

describe('startup', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();
    await queryAs(database, CREATE_VISITS);
    // Tables that no entity maps are only reported.
    await queryAs(database, 'create table foreign_visits (organization_id uuid)');
  });
  afterAll(() => dropDatabase(database));

  const failureOf = async (module: Type<unknown>) =>
    (await failureOfStart(module, database)).join('\n');

  it.each<[string, string, Type<unknown>]>([
    ['ping', 'RequestTool', RequestToolModule],
    ['pong', 'TransientTool', TransientToolModule],
    ['greet', 'DependentPrompt', DependentPromptModule],
  ])(
    'fails if %s of /mcp is a method of %s, which is not a singleton',
    async (name, provider, module) => {
      expect(await failureOf(module)).toBe(
        `${name} of /mcp is a method of ${provider}, which is not a singleton: it or a provider that it injects has the scope REQUEST or TRANSIENT. Inject singletons only, and take what belongs to the request from the Call.`,
      );
    },
  );

  it('fails if two methods declare the same route', async () => {
    expect(await failureOf(RepeatedRoutesModule)).toContain(
      'POST /visits is registered by both RepeatedRoutes#add and RepeatedRoutes#addAgain.',
    );
  });

  it('fails if two methods declare the same tool', async () => {
    expect(await failureOf(RepeatedToolModule)).toBe(
      'list_leads of /mcp is declared by LeadsTools and by RepeatedTool. Rename one of them.',
    );
  });

  it('fails if the name of a tool has other characters than models accept', async () => {
    expect(await failureOf(NamedToolModule)).toBe(
      "The tool 'acme.ping pong' of /mcp needs a name of 1 to 64 letters, digits, underscores and hyphens, because models refuse others.",
    );
  });

  it('fails if a CacheInterceptor caches the responses of organizations by URL', async () => {
    expect(await failureOf(CachedModule)).toMatch(
      /^CachedController\.shared has a CacheInterceptor, which caches responses by URL/,
    );
  });

  it('fails if such an interceptor is global, and accepts one that adds the organization', async () => {
    const faults = await failureOf(EverywhereCachedModule);
    expect(faults).toContain('LeadsController.list has a CacheInterceptor');
    expect(faults).toContain('McpController.stream has a CacheInterceptor');
    expect(await failureOf(UseGlobalCachedModule)).toBe(faults);
    expect(await failureOf(OrganizationCachedModule)).not.toContain('CacheInterceptor');
  });

  it('fails if an entity maps a table with an organization_id but without row-level security', async () => {
    expect(await failureOf(VisitsModule)).toBe(
      'The tables visits hold records of organizations, but are not under forced row-level security. In a migration, create such tables with createTenantTable, which enables row-level security.',
    );
  });
});
