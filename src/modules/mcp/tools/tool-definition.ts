import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { inputSchemaOf, type ObjectSchema } from './input-schema.js';
import { outputSchemaOf } from './output-schema.js';
import type { Effect, ToolDeclaration } from './tool.decorator.js';
import type { ToolArguments } from './tool-arguments.js';

/** A tool in `tools/list`. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  readonly annotations: ToolAnnotations;
}

const HINTS: Readonly<Record<Effect, ToolAnnotations>> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  creates: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  updates: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  deletes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
};

/** No tool accesses data outside the organization. */
export function toolDefinitionOf(tool: ToolDeclaration, args: ToolArguments): ToolDefinition {
  const { name, title, description, effect } = tool;
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(name, args),
    outputSchema: outputSchemaOf(tool),
    annotations: { ...HINTS[effect], openWorldHint: false },
  };
}

/** @throws Error that names the tool and the property that a schema cannot describe */
function schemaOf(tool: string, args: ToolArguments): ObjectSchema {
  try {
    return inputSchemaOf(args);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The tool ${tool} takes ${problem}. Agents need its schema.`, { cause });
  }
}
