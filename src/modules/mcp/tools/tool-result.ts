import type { ApiError } from '../../../platform/errors/api-error.js';

/** The result of `tools/call`. */
export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: true;
  readonly _meta?: { readonly 'latitude/error': Record<string, unknown> };
  readonly [key: string]: unknown;
}

/** Returns `value` as structured content, and as JSON text for agents that read only text. */
export function toolResult(value: object): ToolResult {
  const text = JSON.stringify(value);
  return {
    content: [{ type: 'text', text }],
    structuredContent: value as Record<string, unknown>,
  };
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
): ToolResult {
  const { code, message, advice } = error;
  const others = (error.details ?? []).flatMap(({ existing_id, merged_into }) => [
    ...(existing_id === undefined ? [] : [`The existing record has the id ${existing_id}.`]),
    ...(merged_into === undefined ? [] : [`It was merged into the record ${merged_into}.`]),
  ]);
  const text = [`${code}: ${message}`, ...new Set(others), advice].join(' ');
  return {
    isError: true,
    content: [{ type: 'text', text }],
    _meta: { 'latitude/error': { ...error.toEnvelope(requestId).error, ...metadata } },
  };
}
