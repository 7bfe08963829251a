import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { schemaRef } from './components.js';
import type { Schema } from './model.js';

const DETAIL: JsonSchema = {
  type: 'object',
  properties: {
    field: {
      type: 'string',
      description: 'The field or parameter; `body` or `query` for a problem of the whole.',
    },
    message: { type: 'string', description: 'What is wrong with it.' },
    existing_id: {
      type: 'string',
      format: 'uuid',
      description: 'On `duplicate`: the id of the other record, if the key may read it.',
    },
  },
  required: ['field', 'message'],
};

/** Returns the schema of all codes that Latitude and its extensions declare. */
export function errorCodeSchema(codes: readonly string[]): JsonSchema {
  return {
    type: 'string',
    enum: codes,
    description: 'The codes that Latitude and its extensions declare.',
  };
}

/** The schema of the error envelope (docs/contract/errors.md#error-body). */
export const ERROR_SCHEMA: Schema = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: {
          anyOf: [schemaRef('ErrorCode'), { type: 'string' }],
          description:
            'Stable identifier of the error, for programs. A deployment can have further codes, such as `conflict`.',
        },
        message: {
          type: 'string',
          description: 'Text for people. It may change and must not be parsed.',
        },
        retryable: {
          type: 'boolean',
          description: 'Whether to retry the same request, with growing, jittered delays.',
        },
        request_id: { type: 'string', description: 'The `X-Request-Id` of the response.' },
        details: {
          type: 'array',
          description:
            'The fields at fault, at most 100, on `validation_error`, `duplicate` and `lead_not_found`.',
          items: DETAIL,
        },
      },
      required: ['code', 'message', 'retryable', 'request_id'],
    },
  },
  required: ['error'],
};
