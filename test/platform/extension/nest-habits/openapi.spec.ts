import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  Module,
  ParseArrayPipe,
  ParseIntPipe,
  Post,
  Query,
  Redirect,
  Sse,
} from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiBody,
  ApiConflictResponse,
  ApiExcludeEndpoint,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiProperty,
  ApiQuery,
  ApiResponse,
  ApiTags,
  IntersectionType,
  PartialType,
} from '@nestjs/swagger';
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
import { of } from 'rxjs';
import { AnyKey, RequireScope } from '../../../../src/platform/http/access.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { Integer, Text } from '../../../../src/platform/fields/kinds/kinds.js';
import type { JsonSchema } from '../../../../src/platform/fields/schema/json-schema.js';
import { ApiRoute } from '../../../../src/platform/http/openapi/api-route.decorator.js';
import type {
  OpenApiDocument,
  Operation,
  Response,
} from '../../../../src/platform/http/openapi/model.js';
import { LeadDto } from '../../../../src/modules/leads/lead.dto.js';
import { ListQuery } from '../../../../src/platform/data/lists/list-query.js';
import { describeExtensions, lint } from '../../../support/openapi.js';

enum Channel {
  Letter = 'letter',
  Call = 'call',
}

class RecipientDto {
  @IsEmail() email: string;
  @IsOptional() @IsString() @MaxLength(20) name?: string;
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

class MessageDto {
  @ApiProperty({ format: 'uuid' }) id: string;
  @ApiProperty({ type: () => LeadDto }) lead: LeadDto;
}

@ApiTags('Messages')
@ApiBearerAuth()
@Controller('api/v1/leads/:id/messages')
class MessagesController {
  @Post()
  @RequireScope('leads:write')
  @ApiOperation({ summary: 'Send a message', description: 'Sends it now.' })
  @ApiResponse({ status: 201, type: MessageDto, description: 'The sent message.' })
  @ApiConflictResponse({ description: 'It was sent already.' })
  send(@Body() { title }: SendDto) {
    return { title };
  }

  @Get()
  @RequireScope('leads:read')
  @ApiOkResponse({ type: [MessageDto] })
  list(@Query() query: MessageQuery) {
    return [query];
  }

  @Get('found')
  @AnyKey()
  @ApiQuery({ name: 'q', required: false, description: 'Words.' })
  @ApiRoute({ summary: 'Find messages', response: MessageDto, errors: ['compliance_blocked'] })
  find(@Query('q') q: string) {
    return Object.assign(new MessageDto(), { q });
  }

  @Post('changes')
  @AnyKey()
  change(@Body() changes: ChangeDto) {
    return changes;
  }

  @Delete('one')
  @AnyKey()
  @HttpCode(204)
  delete() {
    return undefined;
  }

  @Get('file')
  @AnyKey()
  @ApiProduces('text/csv')
  @ApiOkResponse({ schema: { type: 'string' } })
  file() {
    return '';
  }

  @Get('original')
  @AnyKey()
  @Redirect('/')
  original() {
    return undefined;
  }

  @Sse('events')
  @AnyKey()
  @ApiProduces('text/event-stream')
  @ApiOkResponse({ type: RecipientDto })
  events() {
    return of({ data: { email: 'a' } });
  }

  @Get('hidden')
  @AnyKey()
  @ApiExcludeEndpoint()
  hidden() {
    return {};
  }
}

@Controller('api/v1/things')
class ThingsController {
  @Post('named')
  @AnyKey()
  named(
    @Body('text') text: string,
    @Body('list') list: number[],
    @Body('recipient') recipient: RecipientDto,
    @Body('any') any: unknown,
    @Body('size') size: number,
  ) {
    return [text, list, recipient, any, size];
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

/** Has the names of a controller, a method and a DTO of Latitude. */
function withNamesOfLatitude() {
  class TaskDto {
    @ApiProperty() shoe_size: number;
  }
  @Controller('api/v1/a-first-path')
  class LeadsController {
    @Get()
    @AnyKey()
    @ApiOkResponse({ type: TaskDto })
    list() {
      return {};
    }
  }
  return LeadsController;
}

@Module({ controllers: [withNamesOfLatitude(), MessagesController, ThingsController] })
class MessagesModule {}

const extension = defineExtension({ name: 'acme-messages', module: MessagesModule });

let document: OpenApiDocument;
let core: OpenApiDocument;

beforeAll(async () => {
  core = await describeExtensions([]);
  document = await describeExtensions([extension]);
});

const MESSAGES = '/api/v1/leads/{id}/messages';
const THINGS = '/api/v1/things';

const operation = (method: string, path: string): Operation => document.paths[path]![method]!;

const schemaOf = (name: string) => document.components.schemas[name] as JsonSchema;

/** The response of an operation, which is no reference. */
const responseOf = (method: string, path: string, status: number) =>
  operation(method, path).responses[status] as Response;

/** The schema of `data` in a response. */
function dataOf(method: string, path: string, status: number) {
  const { schema } = responseOf(method, path, status).content!['application/json']!;
  expect(schema).toMatchObject({ type: 'object', required: ['data'] });
  return (schema as { properties: { data: object } }).properties.data;
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

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const required = (schema: object) => ({ required: true, schema });
const optional = (schema: object) => ({ required: false, schema });

describe('the OpenAPI document with routes of a team', () => {
  it('is valid, and the same when it is created again', async () => {
    const problems = await lint(document);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(await describeExtensions([extension])).toEqual(document);
  });

  it('keeps the operations and schemas of Latitude, also if the team uses their names', () => {
    for (const [path, operations] of Object.entries(core.paths)) {
      expect(document.paths[path]).toEqual(operations);
    }
    expect(document.components.schemas).toMatchObject(core.components.schemas);
    expect(operation('get', '/api/v1/a-first-path').operationId).toBe('leadsList2');
    expect(schemaOf('Task2').properties).toEqual({ shoe_size: { type: 'number' } });
  });

  it('adds the scope, the security scheme and the common errors to an operation', () => {
    expect(operation('post', MESSAGES)).toMatchObject({
      operationId: 'messagesSend',
      tags: ['Messages'],
      summary: 'Send a message',
      description: 'Sends it now. Requires the scope `leads:write`; counts as a write.',
      security: [{ apiKey: [] }],
      'x-required-scope': 'leads:write',
    });
    expect(Object.keys(operation('post', MESSAGES).responses)).toEqual(
      '201 400 401 403 404 408 409 413 415 417 422 429 431 500 503'.split(' '),
    );
  });

  it('has no route that @ApiExcludeEndpoint() excludes', () => {
    expect(document.paths).not.toHaveProperty([`${MESSAGES}/hidden`]);
  });
});

describe('the schema of an input', () => {
  it('has the fields and the rules of class-validator, to which @ApiProperty() adds', () => {
    expect(bodyOf(MESSAGES)).toEqual(ref('Send'));
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
    expect(parametersOf(MESSAGES)).toMatchObject({
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
      },
      required: ['text', 'list', 'recipient', 'any', 'size'],
      additionalProperties: false,
    });
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
    const words = { ...optional({ type: 'string' }), description: 'Words.' };
    expect(parametersOf(`${MESSAGES}/found`)).toMatchObject({ q: words });
  });
});

describe('the schema of a response', () => {
  it('of @ApiResponse() is in the envelope, with the headers of every response', () => {
    expect(responseOf('post', MESSAGES, 201)).toMatchObject({
      description: 'The sent message.',
      headers: { 'X-Request-Id': {}, ETag: {}, Location: {}, 'Idempotency-Replayed': {} },
    });
    expect(dataOf('post', MESSAGES, 201)).toEqual(ref('Message'));
    expect(dataOf('get', MESSAGES, 200)).toEqual({ type: 'array', items: ref('Message') });
    expect(schemaOf('Message').properties).toMatchObject({ lead: ref('Lead') });
  });

  it('of @ApiRoute() can be a class of @ApiProperty()', () => {
    expect(dataOf('get', `${MESSAGES}/found`, 200)).toEqual(ref('Message'));
    const { summary, responses } = operation('get', `${MESSAGES}/found`);
    expect(summary).toBe('Find messages');
    expect(responses[422]).toEqual({ $ref: '#/components/responses/ComplianceBlocked' });
  });

  it('of a declared error has the error envelope, with any code', () => {
    expect(responseOf('post', MESSAGES, 409)).toMatchObject({
      description: 'It was sent already.',
      headers: { 'X-Request-Id': {} },
      content: { 'application/json': { schema: ref('Error') } },
    });
  });

  it('has no envelope for other types, and no body for @HttpCode(204) and @Redirect()', () => {
    const contentOf = (path: string) => responseOf('get', MESSAGES + path, 200).content;
    expect(contentOf('/file')).toEqual({ 'text/csv': { schema: { type: 'string' } } });
    expect(contentOf('/events')).toEqual({ 'text/event-stream': { schema: ref('Recipient') } });
    expect(responseOf('delete', `${MESSAGES}/one`, 204)).not.toHaveProperty('content');
    expect(responseOf('get', `${MESSAGES}/original`, 302)).not.toHaveProperty('content');
    expect(responseOf('get', `${MESSAGES}/original`, 200)).toBeUndefined();
  });
});
