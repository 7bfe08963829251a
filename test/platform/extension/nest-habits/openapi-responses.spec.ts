import {
  All,
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Module,
  Post,
  Redirect,
  Sse,
} from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiConflictResponse,
  ApiExcludeEndpoint,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiProduces,
  ApiProperty,
  ApiResponse,
  ApiTags,
  getSchemaPath,
  type ResponseObject,
} from '@nestjs/swagger';
import { of } from 'rxjs';
import { AnyKey, RequireScope } from '../../../../src/platform/http/routes/access.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { Text } from '../../../../src/platform/fields/kinds/kinds.js';
import type { JsonSchema } from '../../../../src/platform/fields/schema/json-schema.js';
import { ApiRoute } from '../../../../src/platform/http/routes/api-route.decorator.js';
import type { OpenApiDocument, Operation } from '../../../../src/platform/http/openapi/model.js';
import { LeadDto } from '../../../../src/modules/leads/lead.dto.js';
import { describeExtensions, lintPaths } from '../../../support/openapi.js';

class SendDto {
  @Text({ max: 5, required: true }) title: string;
}

class RecipientDto {
  @ApiProperty() email: string;
}

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
  @ApiOkResponse({ type: [MessageDto], examples: { none: { summary: 'None', value: [] } } })
  list() {
    return [];
  }

  @Get('found')
  @AnyKey()
  @ApiRoute({ summary: 'Find messages', response: MessageDto, errors: ['compliance_blocked'] })
  find() {
    return new MessageDto();
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

  @Get('related')
  @AnyKey()
  @ApiExtraModels(LeadDto)
  @ApiOkResponse({ schema: { oneOf: [{ $ref: getSchemaPath(LeadDto) }, { type: 'null' }] } })
  related() {
    return null;
  }

  @All('any')
  @AnyKey()
  any() {
    return {};
  }

  @Get('hidden')
  @AnyKey()
  @ApiExcludeEndpoint()
  hidden() {
    return {};
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

@Module({ controllers: [withNamesOfLatitude(), MessagesController] })
class MessagesModule {}

const extension = defineExtension({ name: 'acme-messages', module: MessagesModule });

const MESSAGES = '/api/v1/leads/{id}/messages';

let core: OpenApiDocument;
let document: OpenApiDocument;

beforeAll(async () => {
  core = await describeExtensions([]);
  document = await describeExtensions([extension]);
});

const operation = (method: string, path: string): Operation => document.paths[path]![method]!;

const schemaOf = (name: string) => document.components.schemas[name] as JsonSchema;

/** The response of an operation, which is no reference. */
const responseOf = (method: string, path: string, status: number) =>
  operation(method, path).responses[status] as ResponseObject;

/** The schema of `data` in a response. */
function dataOf(method: string, path: string, status: number) {
  const { schema } = responseOf(method, path, status).content!['application/json']!;
  expect(schema).toMatchObject({ type: 'object', required: ['data'] });
  return (schema as { properties: { data: object } }).properties.data;
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
describe('the OpenAPI document with routes of a team', () => {
  it('is valid, and the same when it is created again', async () => {
    expect(await lintPaths(document, (path) => path.startsWith(MESSAGES))).toEqual([]);
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

  it('has the examples of @ApiResponse() in the envelope', () => {
    const { examples } = responseOf('get', MESSAGES, 200).content!['application/json']!;
    expect(examples).toEqual({ none: { summary: 'None', value: { data: [] } } });
  });

  it('of @ApiRoute() can be a class of @ApiProperty()', () => {
    expect(dataOf('get', `${MESSAGES}/found`, 200)).toEqual(ref('Message'));
    const { summary, responses } = operation('get', `${MESSAGES}/found`);
    expect(summary).toBe('Find messages');
    expect(responses[422]).toEqual({ $ref: '#/components/responses/ComplianceBlocked' });
  });

  it('of getSchemaPath() is the schema of the DTO', () => {
    expect(dataOf('get', `${MESSAGES}/related`, 200)).toEqual({
      oneOf: [ref('Lead'), { type: 'null' }],
    });
  });

  it('of @All() has the status 200 for each method', () => {
    for (const method of ['get', 'post', 'put', 'delete', 'patch']) {
      const { responses } = operation(method, `${MESSAGES}/any`);
      expect(Object.keys(responses).filter((status) => status < '400')).toEqual(['200']);
    }
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
