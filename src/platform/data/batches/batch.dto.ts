import { type Declaration, declareField } from '../../fields/field.js';
import { Flag, Integer, OneOf, Uuid } from '../../fields/kinds/kinds.js';
import { rule } from '../../fields/kinds/rules.js';
import { UUID_SCHEMA } from '../../fields/kinds/uuid.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';

export const MAX_ITEMS = 100;

const ITEMS_PER_WRITE = 10;

/** How many writes a batch counts as. */
export function writesOf(items: readonly unknown[]): number {
  return Math.ceil(items.length / ITEMS_PER_WRITE);
}

const STATUSES = ['created', 'updated', 'unchanged', 'deleted', 'cancelled', 'failed'] as const;
export type BatchStatus = (typeof STATUSES)[number];

const ITEM: Readonly<Record<string, JsonSchema>> = {
  id: { ...UUID_SCHEMA, description: 'The record of an update or a delete.' },
  if_match: {
    type: 'string',
    description: 'Entity tags, as in `If-Match`, for an update or a delete.',
  },
  data: {
    type: 'object',
    additionalProperties: true,
    description: 'The fields, as in a request for one record.',
  },
};

/**
 * An array of objects that are read one by one, so that an invalid one does not refuse the others.
 * @param items the schema of an item, for the documentation
 */
export function ListOfUnread(
  items: JsonSchema,
  max: number,
  declaration: Declaration<readonly unknown[], readonly object[]>,
): PropertyDecorator {
  const isShort = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.length <= max;
  return declareField(declaration, {
    schema: { type: 'array', minItems: 1, maxItems: max, items },
    rules: [rule('isShort', isShort, `must be an array of 1 to ${max} items`)],
  });
}

/**
 * The items of a batch.
 * @param actions what they can do
 * @param more properties of items in addition to those of every batch
 */
export function BatchItems(
  actions: readonly string[],
  example: readonly object[],
  more: Readonly<Record<string, JsonSchema>> = {},
): PropertyDecorator {
  const action = { type: 'string', enum: actions, description: 'What to do.' };
  const properties = { action, ...more, ...ITEM };
  const items = { type: 'object', properties, required: ['action'], additionalProperties: false };
  const description = 'Each is carried out as a request of its own.';
  return ListOfUnread(items, MAX_ITEMS, { required: true, description, example });
}

/** Changes of several records (docs/contract/batches.md). */
export class BatchDto {
  @Flag({
    default: false,
    description: 'Whether one item that fails undoes all.',
    example: false,
  })
  atomic: boolean;
  items: readonly unknown[];
}

const EXAMPLE = [
  {
    action: 'update',
    id: '01a1fbde-995e-72a3-a032-ab1c988b9794',
    data: { status: 'completed' },
  },
  { action: 'delete', id: '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43' },
];

/** Changes of several records without upserts. */
export class RecordBatchDto extends BatchDto {
  @BatchItems(['create', 'update', 'delete'], EXAMPLE) declare items: readonly unknown[];
}

/** The error of an item, as in a response without the id of the request. */
function ItemError(): PropertyDecorator {
  const text: JsonSchema = { type: 'string' };
  const detail: JsonSchema = {
    type: 'object',
    properties: {
      field: text,
      message: text,
      existing_id: UUID_SCHEMA,
      merged_into: UUID_SCHEMA,
      free: { type: 'array', items: { type: 'object', additionalProperties: true } },
    },
    required: ['field', 'message'],
  };
  return declareField(
    {
      description: 'Why it failed; only then.',
      example: { code: 'not_found', message: 'There is no such lead.', retryable: false },
      mayBeMissing: true,
    },
    {
      schema: {
        type: 'object',
        properties: {
          code: text,
          message: text,
          retryable: { type: 'boolean' },
          details: { type: 'array', items: detail },
        },
        required: ['code', 'message', 'retryable'],
      },
      rules: [],
    },
  );
}

/** The result of one item. */
export class BatchResultDto {
  @Integer({
    min: 0,
    max: MAX_ITEMS - 1,
    required: true,
    description: 'Position of the item, from 0.',
    example: 0,
  })
  index: number;
  @OneOf(STATUSES, { required: true, description: 'What was done.', example: 'failed' })
  status: BatchStatus;
  @Uuid({
    description: 'The record, or null if there is none.',
    example: '01a1fbde-995e-72a3-a032-ab1c988b9794',
  })
  id: string | null;
  @ItemError() error?: object;
}

function ItemCount(description: string, example: number): PropertyDecorator {
  return Integer({ min: 0, max: MAX_ITEMS, required: true, description, example });
}

export class BatchMetaDto {
  @ItemCount('Items that did not fail.', 0) succeeded: number;
  @ItemCount('Items that failed.', 1) failed: number;
}

/** The results of a batch. */
export interface BatchOutcome {
  readonly results: readonly BatchResultDto[];
  readonly meta: BatchMetaDto;
}
