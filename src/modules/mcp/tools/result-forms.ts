import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ToolDefinition } from './tool-definition.js';

/**
 * Clients that pass the text and the structured content of a result to the model, which would then read
 * everything twice. They get only the text.
 */
const CLIENTS_THAT_FORWARD_BOTH: readonly (string | undefined)[] = ['@langchain/mcp-adapters'];

/** @param clientName the name that the client gave itself; undefined if it has no session */
export function needsTextOnly(clientName: string | undefined): boolean {
  return CLIENTS_THAT_FORWARD_BOTH.includes(clientName);
}

/** A tool with an output schema would have to return structured content. */
export function withoutOutputSchema({ outputSchema, ...tool }: ToolDefinition) {
  return tool;
}

export function textOnly({ structuredContent, ...result }: CallToolResult): CallToolResult {
  return result;
}
