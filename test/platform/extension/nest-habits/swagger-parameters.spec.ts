import {
  Body,
  Controller,
  Get,
  Headers,
  Module,
  ParseArrayPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  Post,
  Query,
} from '@nestjs/common';
import { ApiBody, ApiQuery } from '@nestjs/swagger';
import { IsInt, IsString } from 'class-validator';
import { AnyKey } from '../../../../src/platform/http/access.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { Integer, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import type { OpenApiDocument } from '../../../../src/platform/http/openapi/model.js';
import { describeExtensions, lint } from '../../../support/openapi.js';

enum Channel {
  Letter = 'letter',
  Call = 'call',
}

class ItemDto {
  @IsString() name: string;
  @IsInt({ each: true }) sizes: number[];
}

class BoxDto {
  @Text({ max: 20, required: true }) label: string;
  @Integer({ min: 1, max: 9, default: 1 }) count?: number;
}

@Controller('api/v1/things')
class ThingsController {
  @Post('named')
  @AnyKey()
  named(
    @Body('text') text: string,
    @Body('count') count: number,
    @Body('done') done: boolean,
    @Body('list') list: number[],
    @Body('item') item: ItemDto,
    @Body('box') box: BoxDto,
    @Body('any') any: unknown,
    @Body('id', ParseUUIDPipe) id: string,
  ) {
    return [text, count, done, list, item, box, any, id];
  }

  @Post('object')
  @AnyKey()
  object(@Body() body: Record<string, unknown>) {
    return body;
  }

  @Post('array')
  @AnyKey()
  array(@Body() body: ItemDto[]) {
    return body;
  }

  @Post('parsed')
  @AnyKey()
  @ApiBody({ type: [ItemDto] })
  parsed(@Body(new ParseArrayPipe({ items: ItemDto })) body: ItemDto[]) {
    return body;
  }

  @Post('declared')
  @AnyKey()
  @ApiBody({ schema: { type: 'object', description: 'By hand.' } })
  declared(@Body('text') text: string, @Headers('idempotency-key') key: string) {
    return [text, key];
  }

  @Get('query')
  @AnyKey()
  @ApiQuery({ name: 'page', required: false, description: 'By hand.' })
  @ApiQuery({ name: 'channel', enum: Channel })
  query(
    @Query('q') q: string,
    @Query('page', ParseIntPipe) page: number,
    @Query('channel') channel: Channel,
  ) {
    return [q, page, channel];
  }

  @Get('headers')
  @AnyKey()
  headers(@Headers('x-team') team: string, @Headers() all: object) {
    return [team, all];
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

const things = defineExtension({ name: 'acme-things', module: ThingsModule });

let document: OpenApiDocument;
beforeAll(async () => {
  document = await describeExtensions([things]);
});

const ITEM = { $ref: '#/components/schemas/Item' };

function operation(method: 'get' | 'post', path: string) {
  return document.paths[`/api/v1/things/${path}`]![method]!;
}

function bodyOf(path: string) {
  const { requestBody } = operation('post', path);
  expect(requestBody).toMatchObject({ required: true });
  return requestBody!.content['application/json']!.schema;
}

/** The parameters of an operation by name, without their names. */
function parametersOf(path: string) {
  const { parameters = [] } = operation('get', path);
  return Object.fromEntries(
    parameters.map(({ name, in: _in, required, ...rest }) => [name, { required, ...rest }]),
  );
}

const required = (schema: object) => ({ required: true, schema });

describe('the OpenAPI document of handlers with parameters of Nest', () => {
  it('is valid', async () => {
    const problems = await lint(document);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it("has @Body('name') as properties of one body", () => {
    expect(bodyOf('named')).toEqual({
      type: 'object',
      properties: {
        text: { type: 'string' },
        count: { type: 'number' },
        done: { type: 'boolean' },
        list: { type: 'array', items: {} },
        item: ITEM,
        box: {
          type: 'object',
          properties: {
            label: { type: 'string', minLength: 1, maxLength: 20, pattern: String.raw`\S` },
            count: {
              type: ['integer', 'null'],
              minimum: 1,
              maximum: 9,
              description: 'Default: `1`.',
            },
          },
          required: ['label'],
          additionalProperties: false,
        },
        any: {},
        id: { type: 'string' },
      },
      required: ['text', 'count', 'done', 'list', 'item', 'box', 'any'],
      additionalProperties: false,
    });
    expect(document.components.schemas.Item).toMatchObject({
      properties: { name: { type: 'string' }, sizes: { type: 'array' } },
    });
  });

  it('has the errors of a body for a handler that takes a part of it', () => {
    expect(operation('post', 'named').responses).toHaveProperty('415');
  });

  it('has a body of any form, and an array of any items', () => {
    expect(bodyOf('object')).toEqual({});
    expect(bodyOf('array')).toEqual({ type: 'array', items: {} });
  });

  it('has the body of @ApiBody instead', () => {
    expect(bodyOf('parsed')).toEqual({ type: 'array', items: ITEM });
    expect(bodyOf('declared')).toEqual({ type: 'object', description: 'By hand.' });
  });

  it("has @Query('name') as @nestjs/swagger describes it", () => {
    expect(parametersOf('query')).toEqual({
      q: required({ type: 'string' }),
      page: { required: false, schema: { type: 'number' }, description: 'By hand.' },
      channel: required({ type: 'string', enum: ['letter', 'call'] }),
    });
  });

  it("has @Headers('name')", () => {
    expect(parametersOf('headers')).toEqual({ 'x-team': required({ type: 'string' }) });
    expect(operation('post', 'declared').parameters).toMatchObject([{ name: 'Idempotency-Key' }]);
  });

  it('is the same when it is created again', async () => {
    expect(await describeExtensions([things])).toEqual(document);
  });
});
