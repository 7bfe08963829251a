import { Controller, Get, Injectable, Module, type Type } from '@nestjs/common';
import { RequireScope } from '../../../src/platform/http/routes/access.js';
import { IdDto } from '../../../src/platform/fields/id.dto.js';
import { Prompt } from '../../../src/modules/mcp/prompts/prompt.decorator.js';
import { Resource } from '../../../src/modules/mcp/resources/resource.decorator.js';
import { Tool } from '../../../src/modules/mcp/tools/tool.decorator.js';
import { failureOfStart } from '../../support/failure-of-start.js';
import { createDatabase, dropDatabase } from '../../../src/testing/databases.js';

const UNKNOWN = 'widgets:read' as never;

@Controller('api/v1/widgets')
class WidgetsController {
  @Get(':id')
  @RequireScope(UNKNOWN)
  get() {
    return { secret: true };
  }
}

@Module({ controllers: [WidgetsController] })
class RouteModule {}

@Injectable()
class WidgetTool {
  @Tool('get_widget', {
    title: 'Get a widget',
    description: 'Get one widget.',
    effect: 'reads',
    scope: UNKNOWN,
    output: IdDto,
  })
  get() {
    return { id: 'x' };
  }
}

@Module({ providers: [WidgetTool] })
class ToolModule {}

@Injectable()
class WidgetResource {
  @Resource({ name: 'widget', title: 'Widget', description: 'A widget.', scope: UNKNOWN })
  get() {
    return { id: 'x' };
  }
}

@Module({ providers: [WidgetResource] })
class ResourceModule {}

class NoInput {}

@Injectable()
class WidgetPrompt {
  @Prompt('praise_widget', {
    title: 'Praise a widget',
    description: 'Praise one widget.',
    scopes: ['leads:read', UNKNOWN],
    input: NoInput,
  })
  praise() {
    return ['Praise it.'];
  }
}

@Module({ providers: [WidgetPrompt] })
class PromptModule {}

describe('an unknown scope', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => dropDatabase(database));

  it.each<[string, Type<unknown>]>([
    ['GET /api/v1/widgets/:id', RouteModule],
    ['get_widget', ToolModule],
    ['widget', ResourceModule],
    ['praise_widget', PromptModule],
  ])('required by %s makes startup fail with an error that names both', async (name, module) => {
    const message = (await failureOfStart(module, database)).join('\n');
    expect(message).toContain(`${name} `);
    expect(message).toContain('the unknown scope widgets:read');
  });
});
