import { defineExtension } from '../../../../src/platform/extension/extension.js';
import type { JsonSchema } from '../../../../src/platform/fields/schema/json-schema.js';
import type {
  OpenApiDocument,
  Operation,
  Response,
} from '../../../../src/platform/http/openapi/model.js';
import { describeExtensions, lint } from '../../../support/openapi.js';
import { MappedModule, PATH } from './mapped-types.module.js';

const mapped = defineExtension({ name: 'acme-mapped', module: MappedModule });

let document: OpenApiDocument;

beforeAll(async () => {
  document = await describeExtensions([mapped]);
});

function operation(method: string, path: string): Operation {
  return document.paths[`${PATH}/${path}`]![method]!;
}

/** The names of the required and of the optional parameters of a query. */
function parameters(path: string) {
  const inQuery = (operation('get', path).parameters ?? []).filter((one) => one.in === 'query');
  const named = (wanted: boolean) =>
    inQuery.filter(({ required }) => required === wanted).map(({ name }) => name);
  return { required: named(true), optional: named(false) };
}

function schemaOf(name: string) {
  return document.components.schemas[name] as JsonSchema;
}

function bodyOf(path: string): JsonSchema {
  return operation('post', path).requestBody!.content['application/json']!.schema as JsonSchema;
}

const LIST = ['page', 'limit', 'sort_dir'];
const LABEL = { type: 'object', properties: { label: { type: 'string' } }, required: ['label'] };

describe('the OpenAPI document of mapped types and of DTOs with fields and rules', () => {
  it('is valid', async () => {
    const problems = await lint(document);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  it.each([
    ['named', [], [...LIST, 'name']],
    ['text', [], [...LIST, 'text', 'open', 'tags']],
    ['two', [], LIST],
    ['partial', [], LIST],
    ['picked', [], ['page']],
    ['extended', ['name'], LIST],
  ])('has every parameter of the query of %s', (path, required, optional) => {
    expect(parameters(path)).toEqual({ required, optional });
  });

  it('has the fields of PartialType as optional and nullable', () => {
    const { properties, ...schema } = schemaOf('ChangeBox');
    expect(schema).toEqual({ type: 'object', additionalProperties: false });
    expect(properties).toMatchObject({
      name: { type: ['string', 'null'], maxLength: 9 },
      price: { type: ['string', 'number', 'null'], format: 'decimal' },
      count: { type: ['integer', 'null'] },
    });
    expect(schemaOf('ChangeVersion').required).toEqual(['version']);
  });

  it('has the fields and the properties with rules in a body', () => {
    expect(schemaOf('Mixed')).toEqual({
      type: 'object',
      properties: {
        title: expect.objectContaining({ type: 'string', maxLength: 5 }) as object,
        // `@ApiProperty()` takes the type from TypeScript.
        number: { type: 'number', description: 'How many.' },
        label: { $ref: '#/components/schemas/Label' },
      },
      required: ['title', 'number'],
      additionalProperties: false,
    });
    expect(schemaOf('Label')).toEqual(LABEL);
    const { requestBody } = operation('post', 'mixed');
    // An example of the fields alone would be invalid.
    expect(requestBody!.content['application/json']).not.toHaveProperty('examples');
  });

  it('has both in a response', () => {
    const { content } = operation('post', 'mixed').responses['201'] as Response;
    expect(content!['application/json']!.schema).toMatchObject({
      properties: { data: { $ref: '#/components/schemas/Mixed2' } },
    });
    expect(Object.keys(schemaOf('Mixed2').properties!)).toEqual(['title', 'number', 'label']);
    expect(schemaOf('Mixed2').required).toEqual(['title', 'number']);
  });

  it('has both in a part of a body', () => {
    const mixed = {
      properties: { title: { maxLength: 5 }, number: { type: 'integer' }, label: LABEL },
      required: ['title', 'number'],
    };
    expect(bodyOf('part')).toMatchObject({ properties: { mixed } });
  });
});
