import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Page } from '../../../platform/data/lists/page.js';
import type { ApiError } from '../../../platform/errors/api-error.js';

/** Returns `value` as structured content, and as JSON text for agents that read only text. */
export function toolResult(value: object): CallToolResult {
  const text = JSON.stringify(value);
  return {
    content: [{ type: 'text', text }],
    structuredContent: value,
  };
}

/**
 * Reduces a page to what an agent needs, because models pay for every token: the named fields without
 * nulls, and times without seconds that are zero.
 * @param fields the fields of each item; undefined keeps all of them
 */
export function compactPage(page: Page<object>, fields: readonly string[] | undefined): object {
  const data = page.data.map((record) => {
    const item = record as Readonly<Record<string, unknown>>;
    const names = fields ?? Object.keys(item);
    const values = names.map((name) => [name, compactValue(item[name])] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== null && value !== undefined));
  });
  return { data, meta: page.meta };
}

/**
 * A failure that tells the agent what happened and what to do next
 * (docs/contract/mcp.md#tool-errors).
 * @param metadata additional machine-readable properties of the error
 */
export function toolError(
  error: ApiError,
  requestId: string,
  metadata: Record<string, unknown> = {},
): CallToolResult {
  const { code, message, advice } = error;
  const others = (error.details ?? []).flatMap(({ existing_id, merged_into, free = [] }) => [
    ...(existing_id === undefined ? [] : [`The existing record has the id ${existing_id}.`]),
    ...(merged_into === undefined ? [] : [`It was merged into the record ${merged_into}.`]),
    ...(free.length === 0 ? [] : [`The next free times: ${JSON.stringify(free)}.`]),
  ]);
  const text = [`${code}: ${message}`, ...new Set(others), advice].join(' ');
  return {
    isError: true,
    content: [{ type: 'text', text }],
    _meta: { 'latitude/error': { ...error.toEnvelope(requestId).error, ...metadata } },
  };
}

function compactValue(value: unknown): unknown {
  return value instanceof Date ? value.toISOString().replace(/(:00)?\.000Z$/, 'Z') : value;
}
