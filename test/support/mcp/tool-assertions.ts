import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../../src/platform/errors/error-catalogue.js';
import type { JsonSchema } from '../../../src/platform/fields/schema/json-schema.js';
import type { Answer } from '../../../src/testing/api-client.js';
import { pathOf } from '../../../src/testing/routes.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { failureOf, textOf, type ToolFailure } from './agent.js';
import type { ToolCase } from './tools.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export type Row = Record<string, unknown> & { id: string };

export interface Page {
  data: Row[];
  meta: { page: number; limit: number; total: number; total_pages: number };
}

/** A record of a tool without the fields of its lead and its resource, which REST does not return. */
export function withoutLead(record: Row): Row {
  const { lead_name, lead_phone, lead_email, contact_name, ...others } = record;
  const { resource_name, time_zone, local_start, local_end, ...stored } = others;
  return stored;
}

/** The page that a tool returns for a page of REST: without nulls, and with times to the minute. */
export function toolPageOf(page: Page): Page {
  const compact = (_: string, value: unknown) =>
    typeof value === 'string'
      ? value.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:00)?\.000Z$/, '$1Z').replace(/\.000Z$/, 'Z')
      : (value ?? undefined);
  return JSON.parse(JSON.stringify(page, compact)) as Page;
}

/** A tool in `tools/list`, with its schemas. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly annotations?: { readonly readOnlyHint?: boolean };
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

export const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
addFormats.default(ajv);

/** Expects that a value is valid by a schema. */
export function expectValid(schema: JsonSchema, value: unknown): void {
  const validate = ajv.compile(schema);
  validate(value);
  expect(validate.errors).toBeNull();
}

/** Expects the result of a failed call (docs/contract/mcp.md#tool-errors), and returns its error. */
export function expectFailure(result: CallToolResult, code: ErrorCode): ToolFailure {
  const { retryable, advice } = ERROR_CATALOGUE[code];
  const error = failureOf(result);
  expect(result).toEqual({
    isError: true,
    content: expect.any(Array) as unknown[],
    _meta: { 'latitude/error': error },
  });
  expect(error).toMatchObject({ code, retryable, message: expect.any(String) as string });
  expect(error.message).not.toBe('');
  expect(error.request_id).toMatch(UUID);
  const text = textOf(result);
  expect(text.startsWith(`${code}: ${error.message}`)).toBe(true);
  expect(text.endsWith(` ${advice}`)).toBe(true);
  return error;
}

/** Expects a `validation_error` whose details and message name these arguments and no others. */
export function expectInvalidArguments(result: CallToolResult, ...fields: string[]): void {
  const { details = [], message } = expectFailure(result, 'validation_error');
  expect(details.map(({ field }) => field).sort()).toEqual([...fields].sort());
  for (const field of fields) expect(message).toContain(field);
}

/** Reads the record of a tool through REST. */
export function restRecord(
  { route }: Pick<ToolCase, 'route'>,
  owner: Tenant,
  id: string,
): Promise<Answer> {
  const pattern = route.pattern.endsWith('/:id') ? route.pattern : `${route.pattern}/:id`;
  return owner.api.get(pathOf({ ...route, pattern }, id));
}
