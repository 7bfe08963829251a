import type { ApiError } from '../../errors/api-error.js';
import { ERROR_CATALOGUE } from '../../errors/error-catalogue.js';

/** What a call of a tool answers, by the protocol. */
export interface ToolResult {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: true;
  readonly _meta?: { readonly 'latitude/error': Record<string, unknown> };
  readonly [key: string]: unknown;
}

/** A result as an object, with a compact copy for agents that read text alone. */
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
 * @param facts what else an agent may want to know of it, as a program
 */
export function toolError(
  error: ApiError,
  requestId: string,
  facts: Record<string, unknown> = {},
): ToolResult {
  const { code, message } = error;
  const { advice } = ERROR_CATALOGUE[code];
  const twins = new Set((error.details ?? []).flatMap(({ existing_id: id }) => id ?? []));
  const found = [...twins].map((id) => `The existing record has the id ${id}.`);
  const text = [`${code}: ${message}`, ...found, advice].join(' ');
  return {
    isError: true,
    content: [{ type: 'text', text }],
    _meta: { 'latitude/error': { ...error.toEnvelope(requestId).error, ...facts } },
  };
}
