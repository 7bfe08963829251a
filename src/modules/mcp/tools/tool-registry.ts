import type { ToolAnnotations } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import type { DecoratedMethod } from '../../../platform/discovery/decorated-methods.js';
import { DeclaredMethods } from '../declared-methods.js';
import { inputSchemaOf, type ObjectSchema } from './input-schema.js';
import { outputSchemaOf } from './output-schema.js';
import { type Effect, TOOL, type ToolDeclaration } from './tool.decorator.js';
import { ToolArguments } from './tool-arguments.js';

/** A tool in `tools/list`. */
export type ToolDefinition = ReturnType<typeof definitionOf>;

/** A declared tool with the parser of its arguments. */
export interface RegisteredTool extends DecoratedMethod<ToolDeclaration> {
  readonly arguments: ToolArguments;
  readonly definition: ToolDefinition;
}

/** The names that agents and models accept. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const HINTS: Readonly<Record<Effect, ToolAnnotations>> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  creates: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  updates: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  deletes: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
};

/** The tools that all modules declare. */
@Injectable()
export class ToolRegistry extends DeclaredMethods<ToolDeclaration> {
  protected readonly metadata = TOOL;
  private readonly tools = new Map<string, RegisteredTool>();

  /** @throws Error when two tools have the same name, a name is not valid, or a tool declares an argument twice */
  override onModuleInit(): void {
    super.onModuleInit();
    for (const [name, method] of this.methods) {
      if (!NAME.test(name)) {
        throw new Error(
          `The tool '${name}' of /mcp needs a name of 1 to 64 letters, digits, underscores and hyphens, because models refuse others.`,
        );
      }
      const args = new ToolArguments(method.declaration);
      const definition = definitionOf(method.declaration, args);
      this.tools.set(name, { ...method, arguments: args, definition });
    }
  }

  find(name: string): RegisteredTool | undefined {
    return this.tools.get(name);
  }

  /** The scopes that the tools require, sorted. */
  get scopes(): readonly string[] {
    return [...new Set([...this.tools.keys()].flatMap((name) => this.scopesOf(name)))].sort();
  }

  /** Whether calls of the tool count as reads or writes. False for an unknown tool. */
  countsAsReadOrWrite(name: string): boolean {
    const tool = this.tools.get(name);
    return tool !== undefined && !tool.declaration.isUnmetered;
  }

  /** @returns the tools that a key with these scopes may call, in a fixed order */
  listFor(scopes: ReadonlySet<string>): ToolDefinition[] {
    return this.allowed(scopes).flatMap(({ name }) => this.tools.get(name)?.definition ?? []);
  }
}

/** No tool accesses data outside the organization. */
function definitionOf(tool: ToolDeclaration, args: ToolArguments) {
  const { name, title, description, effect } = tool;
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(name, args),
    outputSchema: outputSchemaOf(tool),
    // Some directories of applications read only the title of the annotations.
    annotations: { title, ...HINTS[effect], openWorldHint: false },
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
