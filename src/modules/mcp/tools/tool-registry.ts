import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { DecoratedMethod } from '../../../platform/discovery/decorated-methods.js';
import { MethodDiscovery } from '../method-discovery.js';
import { missingScopeOf, scopesOf, TOOL, type ToolDeclaration } from './tool.decorator.js';
import { ToolArguments } from './tool-arguments.js';
import { toolDefinitionOf, type ToolDefinition } from './tool-definition.js';

/** A declared tool with the parser of its arguments. */
export interface RegisteredTool extends DecoratedMethod<ToolDeclaration> {
  readonly arguments: ToolArguments;
}

/** The names that agents and models accept. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** The tools that all modules declare. */
@Injectable()
export class ToolRegistry implements OnModuleInit {
  private tools: ReadonlyMap<string, RegisteredTool> = new Map();
  private definitions: readonly (readonly [ToolDeclaration, ToolDefinition])[] = [];

  constructor(private readonly methods: MethodDiscovery) {}

  /** @throws Error when two tools have the same name, a name is not valid, or a tool declares an argument twice */
  onModuleInit(): void {
    const tools = [...this.methods.byName<ToolDeclaration>(TOOL).values()].map((method) => {
      const { name } = method.declaration;
      if (!NAME.test(name)) {
        throw new Error(
          `The tool '${name}' of /mcp needs a name of 1 to 64 letters, digits, underscores and hyphens, because models refuse others.`,
        );
      }
      return { ...method, arguments: new ToolArguments(method.declaration) };
    });
    this.tools = new Map(tools.map((tool) => [tool.declaration.name, tool]));
    this.definitions = tools.map((tool) => {
      return [tool.declaration, toolDefinitionOf(tool.declaration, tool.arguments)];
    });
  }

  find(name: string): RegisteredTool | undefined {
    return this.tools.get(name);
  }

  /** The scopes of a tool; none if there is no such tool. */
  scopesOf(name: string): readonly string[] {
    const tool = this.tools.get(name);
    return tool ? scopesOf(tool.declaration) : [];
  }

  /** The scopes that the tools require, sorted. */
  get scopes(): readonly string[] {
    return [...new Set(this.definitions.flatMap(([declaration]) => scopesOf(declaration)))].sort();
  }

  /** Whether calls of the tool count as reads or writes. False for an unknown tool. */
  countsAsReadOrWrite(name: string): boolean {
    const tool = this.tools.get(name);
    return tool !== undefined && !tool.declaration.isUnmetered;
  }

  /** @returns the tools that a key with these scopes may call, in a fixed order */
  listFor(scopes: ReadonlySet<string>): ToolDefinition[] {
    return this.definitions
      .filter(([declaration]) => missingScopeOf(declaration, scopes) === undefined)
      .map(([, listing]) => listing);
  }
}
