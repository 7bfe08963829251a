import {
  Body,
  Controller,
  Get,
  Headers,
  Module,
  ParseArrayPipe,
  ParseIntPipe,
  Post,
  Query,
} from '@nestjs/common';
import { ApiBody, ApiProperty, ApiQuery, IntersectionType, PartialType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsEmail,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import { AnyKey } from '../../../../src/platform/http/routes/access.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { Integer, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import type { JsonSchema } from '../../../../src/platform/fields/schema/json-schema.js';
import type { OpenApiDocument, Operation } from '../../../../src/platform/http/openapi/model.js';
import { ListQuery } from '../../../../src/platform/data/lists/list-query.js';
import { describeExtensions, lintPaths } from '../../../support/openapi.js';

enum Channel {
  Letter = 'letter',
  Call = 'call',
}

class RecipientDto {
  @IsEmail() email: string;
  @IsOptional() @IsString() @MaxLength(20) name?: string;
}

class NoteDto {
  @Text({ max: 5, required: true }) text: string;
}

/** Has fields and rules of class-validator. */
class SendDto {
  @Text({ max: 5, required: true, example: 'a' }) title: string;
  @Integer({ min: 1, max: 9, default: 1 }) count?: number;
  @IsInt() @Min(1) @Max(9) copies: number;
  @Matches(/^[a-z]+$/) slug: string;
  @ArrayMaxSize(3) @IsString({ each: true }) @Length(1, 10, { each: true }) tags: string[];
  @ValidateNested({ each: true }) @Type(() => RecipientDto) copied: RecipientDto[];
  @ApiProperty({ description: 'By hand.' }) @IsString() @MaxLength(7) mixed: string;
}

class ChangeDto extends PartialType(SendDto) {}

class FilterDto {
  @IsOptional() @IsInt() @Min(1) @Type(() => Number) number?: number;
}

class MessageQuery extends IntersectionType(ListQuery, FilterDto) {}

@Controller('api/v1/things')
class ThingsController {
  @Post('sent')
  @AnyKey()
  send(@Body() body: SendDto) {
    return body;
  }

  @Post('changed')
  @AnyKey()
  change(@Body() body: ChangeDto) {
    return body;
  }

  @Get('list')
  @AnyKey()
  list(@Query() query: MessageQuery) {
    return query;
  }

  @Post('named')
  @AnyKey()
  named(
    @Body('text') text: string,
    @Body('list') list: number[],
    @Body('recipient') recipient: RecipientDto,
    @Body('any') any: unknown,
    @Body('size') size: number,
    @Body('note') note: NoteDto,
  ) {
    return [text, list, recipient, any, size, note];
  }

  @Post('object')
  @AnyKey()
  object(@Body() body: Record<string, unknown>) {
    return body;
  }

  @Post('array')
  @AnyKey()
  array(@Body() body: RecipientDto[]) {
    return body;
  }

  @Post('parsed')
  @AnyKey()
  @ApiBody({ type: [RecipientDto] })
  parsed(@Body(new ParseArrayPipe({ items: RecipientDto })) body: RecipientDto[]) {
    return body;
  }

  @Post('declared')
  @AnyKey()
  @ApiBody({ schema: { type: 'object', description: 'By hand.' } })
  declared(@Body('text') text: string) {
    return text;
  }

  @Get('query')
  @AnyKey()
  @ApiQuery({ name: 'page', required: false, description: 'By hand.' })
  @ApiQuery({ name: 'channel', enum: Channel })
  query(
    @Query('q') q: string,
    @Query('page', ParseIntPipe) page: number,
    @Query('channel') channel: Channel,
    @Headers('x-team') team: string,
    @Headers() all: object,
  ) {
    return [q, page, channel, team, all];
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

const extension = defineExtension({ name: 'acme-things', module: ThingsModule });

const THINGS = '/api/v1/things';

let document: OpenApiDocument;

beforeAll(async () => {
  document = await describeExtensions([extension]);
});

const operation = (method: string, path: string): Operation => document.paths[path]![method]!;

const schemaOf = (name: string) => document.components.schemas[name] as JsonSchema;

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

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const required = (schema: object) => ({ required: true, schema });
const optional = (schema: object) => ({ required: false, schema });

describe('the schema of an input of a team', () => {
  it('is valid', async () => {
    expect(await lintPaths(document, (path) => path.startsWith(THINGS))).toEqual([]);
  });

  it('has the fields and the rules of class-validator, to which @ApiProperty() adds', () => {
    expect(bodyOf(`${THINGS}/sent`)).toEqual(ref('Send'));
    const { properties, required: names } = schemaOf('Send');
    expect(properties).toMatchObject({
      title: { type: 'string', maxLength: 5 },
      copies: { type: 'integer', minimum: 1, maximum: 9 },
      slug: { type: 'string', pattern: '^[a-z]+$' },
      tags: { type: 'array', maxItems: 3, items: { type: 'string', minLength: 1, maxLength: 10 } },
      copied: { type: 'array', items: ref('Recipient') },
      mixed: { type: 'string', maxLength: 7, description: 'By hand.' },
    });
    expect(names!.toSorted()).toEqual(['copied', 'copies', 'mixed', 'slug', 'tags', 'title']);
    expect(schemaOf('Recipient')).toMatchObject({
      properties: { email: { format: 'email' }, name: { maxLength: 20 } },
      required: ['email'],
    });
  });

  it('has the properties of PartialType() as optional, and its fields as nullable', () => {
    const { properties, ...schema } = schemaOf('Change');
    expect(schema).not.toHaveProperty('required');
    expect(properties).toMatchObject({
      title: { type: ['string', 'null'], maxLength: 5 },
      copies: { type: 'integer' },
    });
  });

  it('has the fields of a list and the other parameters of a query', () => {
    expect(parametersOf(`${THINGS}/list`)).toMatchObject({
      ...{ page: { required: false }, limit: { required: false }, sort_dir: { required: false } },
      number: optional({ type: 'integer', minimum: 1 }),
    });
  });

  it('has parts of a body as one object, and a body of any form', () => {
    expect(bodyOf(`${THINGS}/named`)).toEqual({
      type: 'object',
      properties: {
        text: { type: 'string' },
        list: { type: 'array', items: {} },
        recipient: ref('Recipient'),
        any: {},
        size: { type: 'number' },
        note: ref('Note'),
      },
      required: ['text', 'list', 'recipient', 'any', 'size', 'note'],
      additionalProperties: false,
    });
    expect(schemaOf('Note')).toMatchObject({ required: ['text'], additionalProperties: false });
    expect(bodyOf(`${THINGS}/object`)).toEqual({});
    expect(bodyOf(`${THINGS}/array`)).toEqual({ type: 'array', items: {} });
    expect(bodyOf(`${THINGS}/parsed`)).toEqual({ type: 'array', items: ref('Recipient') });
    expect(bodyOf(`${THINGS}/declared`)).toEqual({ type: 'object', description: 'By hand.' });
  });

  it('has the parameters as @nestjs/swagger describes them', () => {
    expect(parametersOf(`${THINGS}/query`)).toEqual({
      q: required({ type: 'string' }),
      page: { ...optional({ type: 'number' }), description: 'By hand.' },
      channel: required({ type: 'string', enum: ['letter', 'call'] }),
      'x-team': required({ type: 'string' }),
    });
  });
});
