import { Injectable, Module, type Type } from '@nestjs/common';
import { Transform, Type as TypeOf } from 'class-transformer';
import {
  Allow,
  IsArray,
  IsDate,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { Integer, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import { Tool } from '../../../../src/modules/mcp/tools/tool.decorator.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { type Agent, connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';

class ItemDto {
  @IsString() @MaxLength(20) name: string;
  @IsInt() @Min(1) @Max(99) count: number;
}

class OrderDto {
  @IsString() @Length(1, 20) title: string;
  @IsIn(['slow', 'fast']) speed: string;
  @IsArray() @ValidateNested({ each: true }) @TypeOf(() => ItemDto) items: ItemDto[];
  @IsOptional() @IsDate() @TypeOf(() => Date) due?: Date;
  @IsOptional() @IsString({ each: true }) tags?: string[];
  @IsOptional() @Transform(({ value }) => String(value).trim()) @IsString() note?: string;
  /** A field of Latitude in the same class. */
  @Text({ max: 10, default: 'web', description: 'Where it comes from.' }) source?: string;
}

class PlacedDto {
  @Text({ max: 200, required: true }) order: string;
  @Integer({ min: 0, max: 99, required: true }) items: number;
}

const OPTIONS = { title: 'Order', description: 'Place an order.', scope: 'tasks:write' } as const;

@Injectable()
class OrderTools {
  @Tool('place_order', { ...OPTIONS, effect: 'creates', input: OrderDto, output: PlacedDto })
  place(_: unknown, order: OrderDto): PlacedDto {
    const { items, due, ...others } = order;
    const isOfClasses = order instanceof OrderDto && items.every((one) => one instanceof ItemDto);
    const text = JSON.stringify({ ...others, year: due?.getUTCFullYear(), isOfClasses });
    return { order: text, items: items.length };
  }
}

@Module({ providers: [OrderTools] })
class OrdersModule {}

/** A tool with another class as its input. */
function moduleWith(input: Type<object>): Type<unknown> {
  @Injectable()
  class OtherTools {
    @Tool('other', { ...OPTIONS, effect: 'creates', input, output: PlacedDto })
    run(): PlacedDto {
      return { order: '', items: 0 };
    }
  }
  @Module({ providers: [OtherTools] })
  class OtherModule {}
  return OtherModule;
}

const ORDER = { title: 'Roof', speed: 'fast', items: [{ name: 'Slate', count: 7 }] };

let app: TestApp;
let agent: Agent;

beforeAll(async () => {
  app = await TestApp.start({ modules: [OrdersModule] });
  agent = await connectAgent(app, await app.organization());
});
afterAll(() => stopWithAgents(app));

describe('a tool whose input has rules of class-validator', () => {
  it('is listed with their schema', async () => {
    const tools = await agent.listTools();
    expect(tools.find(({ name }) => name === 'place_order')?.inputSchema).toEqual({
      type: 'object',
      properties: {
        source: {
          type: 'string',
          description: 'Where it comes from. Max 10 characters. Default: web.',
        },
        title: { type: 'string', description: 'Max 20 characters.' },
        speed: { type: 'string', enum: ['slow', 'fast'] },
        items: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string', description: 'Max 20 characters.' },
              count: { type: 'integer', description: '1 to 99.' },
            },
            required: ['name', 'count'],
            additionalProperties: false,
          },
        },
        due: { type: 'string', description: 'ISO 8601, UTC by default.' },
        tags: { type: 'array', items: { type: 'string' } },
        note: { type: 'string' },
      },
      required: ['title', 'speed', 'items'],
      additionalProperties: false,
    });
  });

  it('receives instances of the classes, without null arguments', async () => {
    const args = { ...ORDER, due: '2026-03-04T00:00:00Z', note: ' n ', tags: null };
    const { order, items } = await agent.succeed('place_order', args);
    expect(items).toBe(1);
    expect(JSON.parse(order as string)).toEqual({
      ...{ title: 'Roof', speed: 'fast', note: 'n', source: 'web' },
      ...{ year: 2026, isOfClasses: true },
    });
  });

  it.each<[string, object, string[]]>([
    ['missing', { items: undefined }, ['items']],
    ['of a wrong type', { title: 5, tags: [1] }, ['title', 'tags']],
    ['inside an item', { items: [{ name: 'Slate', count: 0 }] }, ['items.0.count']],
    ['unknown', { more: 1 }, ['more']],
    ['a field', { source: 'x'.repeat(11) }, ['source']],
  ])('names the argument that is %s', async (_, change, fields) => {
    const { code, details = [] } = await agent.fail('place_order', { ...ORDER, ...change });
    expect(code).toBe('validation_error');
    expect(details.map(({ field }) => field).sort()).toEqual(fields.sort());
  });
});

class UntypedDto {
  @Allow() anything: unknown;
}

class TreeDto {
  @ValidateNested({ each: true }) @TypeOf(() => TreeDto) children: TreeDto[];
}

it.each<[Type<object>, string]>([
  [UntypedDto, 'The tool other takes UntypedDto, whose property anything has no rule of its type.'],
  [TreeDto, 'The tool other takes TreeDto, which contains itself.'],
])('startup fails if a tool takes %p', async (input, message) => {
  const starting = TestApp.start({ modules: [moduleWith(input)], database: app.database });
  await expect(starting).rejects.toThrow(message);
});
