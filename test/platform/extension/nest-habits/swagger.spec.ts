import { defineExtension } from '../../../../src/platform/extension/extension.js';
import type { JsonSchema } from '../../../../src/platform/fields/schema/json-schema.js';
import type {
  OpenApiDocument,
  Operation,
  Response,
} from '../../../../src/platform/http/openapi/model.js';
import { describeExtensions, lint } from '../../../support/openapi.js';
import { MessagesModule } from './swagger.module.js';

const messages = defineExtension({ name: 'acme-messages', module: MessagesModule });

const PATH = '/api/v1/leads/{id}/messages';

let document: OpenApiDocument;
let core: OpenApiDocument;

beforeAll(async () => {
  core = await describeExtensions([]);
  document = await describeExtensions([messages]);
});

function operation(method: string, path = ''): Operation {
  return document.paths[PATH + path]![method]!;
}

/** The properties of a schema component. */
function properties(name: string) {
  return (document.components.schemas[name] as JsonSchema).properties!;
}

/** The response of an operation, which is no reference. */
function response(method: string, path: string, status: number): Response {
  return operation(method, path).responses[status] as Response;
}

/** The schema of `data` in a response. */
function dataOf(method: string, path: string, status: number) {
  const { schema } = response(method, path, status).content!['application/json']!;
  expect(schema).toMatchObject({ type: 'object', required: ['data'] });
  return (schema as { properties: { data: object } }).properties.data;
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

describe('the OpenAPI document of a module with the decorators of @nestjs/swagger', () => {
  it('is valid', async () => {
    const problems = await lint(document);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it('keeps the operations and schemas of Latitude when the module uses the same names', () => {
    for (const [path, operations] of Object.entries(core.paths)) {
      expect(document.paths[path]).toEqual(operations);
    }
    expect(document.components.schemas).toMatchObject(core.components.schemas);
    expect(document.paths['/api/v1/a-first-path']!.get!.operationId).toBe('leadsList2');
    expect(properties('Task2')).toEqual({ shoe_size: { type: 'number' } });
  });

  it('has the text and the tag of @ApiOperation and @ApiTags, with the scope', () => {
    expect(operation('post')).toMatchObject({
      operationId: 'messagesSend',
      tags: ['Messages'],
      summary: 'Send a message',
      description: 'Sends it now. Requires the scope `leads:write`; counts as a write.',
      deprecated: true,
      security: [{ apiKey: [] }],
      'x-required-scope': 'leads:write',
    });
    expect(document.tags).toContainEqual({ name: 'Messages' });
  });

  it('has the parameters of @Param, @Query, @ApiParam, @ApiQuery and @ApiHeader', () => {
    expect(operation('get', '/{number}').parameters).toMatchObject([
      { name: 'id', in: 'path', schema: { format: 'uuid' } },
      { name: 'number', in: 'path', required: true, description: 'Its number.' },
    ]);
    expect(operation('get', '/found').parameters).toMatchObject([
      { name: 'id' },
      { name: 'If-None-Match', in: 'header' },
      { name: 'q', in: 'query', required: false, description: 'Words.' },
      { name: 'X-Team', in: 'header', description: 'The team.' },
    ]);
    expect(operation('get').parameters).toMatchObject([
      { name: 'id' },
      { name: 'channel', in: 'query', required: false, schema: { enum: ['letter', 'call'] } },
      { name: 'page', in: 'query', required: true, schema: { type: 'integer', minimum: 1 } },
    ]);
  });

  it('has the body of the DTO or of @ApiBody', () => {
    const bodyOf = (path: string) => operation('post', path).requestBody;
    const json = (schema: object) => ({
      required: true,
      content: { 'application/json': { schema } },
    });
    expect(bodyOf('')).toEqual(json(ref('Send')));
    expect(bodyOf('/{number}/changes')).toEqual(json(ref('Change')));
    expect(bodyOf('/{number}/copies')).toEqual(json({ type: 'array', items: ref('Send') }));
  });

  it('has the properties of @ApiProperty, with enums, arrays and nested DTOs', () => {
    expect(document.components.schemas.Message).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string', format: 'uuid' },
        channel: { allOf: [ref('Channel')] },
        note: { type: ['string', 'null'] },
        labels: { type: 'array', maxItems: 5, items: { type: 'string' } },
        attachments: { type: 'array', items: ref('Attachment') },
        lead: ref('Lead'),
        sent_at: { type: 'string', format: 'date-time' },
      },
      required: ['id', 'channel', 'note', 'attachments', 'lead', 'sent_at'],
    });
    expect(document.components.schemas.Channel).toEqual({
      type: 'string',
      enum: ['letter', 'call'],
    });
  });

  it('has the rules of class-validator, to which @ApiProperty adds', () => {
    expect(properties('Send')).toEqual({
      text: { type: 'string', minLength: 1, maxLength: 500 },
      channel: { type: 'string', enum: ['letter', 'call'] },
      priority: { type: 'number', enum: [1, 2, 3] },
      copies: { type: 'integer', minimum: 1, maximum: 9 },
      price: { type: 'number' },
      lead_id: { type: 'string', format: 'uuid' },
      due: { type: 'string', format: 'date-time' },
      slug: { type: 'string', pattern: '^[a-z]+$' },
      tags: {
        type: 'array',
        maxItems: 3,
        items: { type: 'string', minLength: 1, maxLength: 10 },
      },
      recipient: ref('Recipient'),
      copied: { type: 'array', items: ref('Recipient') },
      mixed: { type: 'string', maxLength: 7, description: 'Described by hand.' },
    });
    expect(document.components.schemas.Send).toHaveProperty('required', [
      ...['mixed', 'text', 'channel', 'priority', 'copies', 'price', 'lead_id', 'slug', 'tags'],
      ...['recipient', 'copied'],
    ]);
    expect(document.components.schemas.Recipient).toEqual({
      type: 'object',
      properties: {
        email: { type: 'string', format: 'email' },
        name: { type: 'string', maxLength: 20 },
      },
      required: ['email'],
    });
    expect(document.components.schemas.Change).not.toHaveProperty('required');
  });

  it('has the responses of @ApiResponse in the envelope, with the headers of every response', () => {
    expect(response('post', '', 201)).toMatchObject({
      description: 'The sent message.',
      headers: { 'X-Request-Id': {}, ETag: {}, Location: {}, 'Idempotency-Replayed': {} },
    });
    expect(dataOf('post', '', 201)).toEqual(ref('Message'));
    expect(dataOf('get', '', 200)).toEqual({ type: 'array', items: ref('Message') });
    expect(dataOf('get', '/{number}', 200)).toEqual({ oneOf: [ref('Letter'), ref('Call')] });
    expect(dataOf('post', '/{number}/changes', 201)).toEqual(ref('Lead'));
  });

  it('has the response of @ApiRoute, also for a DTO of @ApiProperty', () => {
    expect(dataOf('get', '/found', 200)).toEqual(ref('Message'));
    const { summary, responses } = operation('get', '/found');
    expect(summary).toBe('Find messages');
    expect(responses[422]).toEqual({ $ref: '#/components/responses/ComplianceBlocked' });
  });

  it('has the errors of @ApiResponse, with any code, in addition to those of Latitude', () => {
    expect(response('post', '', 409)).toMatchObject({
      description: 'It was sent already.',
      headers: { 'X-Request-Id': {} },
      content: { 'application/json': { schema: ref('Error') } },
    });
    expect(Object.keys(operation('post').responses)).toEqual(
      '201 400 401 403 404 408 409 413 415 417 422 429 431 500 503'.split(' '),
    );
  });

  it('has no body for @HttpCode(204) and @Redirect, and the type of @ApiProduces', () => {
    const { content } = response('get', '/{number}/events', 200);
    expect(content).toEqual({ 'text/event-stream': { schema: ref('Attachment') } });
    expect(response('delete', '/{number}', 204)).not.toHaveProperty('content');
    expect(response('get', '/{number}/original', 302)).not.toHaveProperty('content');
    expect(response('get', '/{number}/original', 200)).toBeUndefined();
    expect(response('get', '/{number}/file', 200).content).toEqual({
      'text/csv': { schema: { type: 'string' } },
    });
  });

  it('has no route of @ApiExcludeEndpoint and @ApiExcludeController', () => {
    expect(Object.keys(document.paths).filter((path) => path.includes('hidden'))).toEqual([]);
  });

  it('is the same when it is created again', async () => {
    expect(await describeExtensions([messages])).toEqual(document);
  });
});
