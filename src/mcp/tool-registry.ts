import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { TOOL, type ToolDeclaration } from './tool.decorator.js';
import { listingOf, type ToolListing } from './tool-schema.js';

/** A tool that can be called. */
export interface RegisteredTool {
  readonly declaration: ToolDeclaration;
  readonly listing: ToolListing;
  readonly run: (...args: unknown[]) => unknown;
}

/** The tools that the providers of all modules declare. */
@Injectable()
export class ToolRegistry implements OnModuleInit {
  private readonly tools = new Map<string, RegisteredTool>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  /** @throws Error where two tools have one name */
  onModuleInit(): void {
    for (const { instance } of this.discovery.getProviders()) {
      if (typeof instance === 'object' && instance !== null) this.addToolsOf(instance as object);
    }
  }

  find(name: string): RegisteredTool | undefined {
    return this.tools.get(name);
  }

  /** The tools that a key with these scopes may call, always in the same order. */
  listFor(scopes: ReadonlySet<string>): ToolListing[] {
    return [...this.tools.values()]
      .filter(({ declaration }) => scopes.has(declaration.scope))
      .map(({ listing }) => listing);
  }

  private addToolsOf(provider: object): void {
    const methods = provider as Record<string, RegisteredTool['run']>;
    for (const name of this.scanner.getAllMethodNames(Object.getPrototypeOf(provider) as object)) {
      const method = methods[name];
      const declaration = method && this.reflector.get<ToolDeclaration | undefined>(TOOL, method);
      if (method && declaration) this.add(declaration, method.bind(provider));
    }
  }

  private add(declaration: ToolDeclaration, run: RegisteredTool['run']): void {
    const { name } = declaration;
    if (this.tools.has(name)) throw new Error(`Two tools are called ${name}`);
    this.tools.set(name, { declaration, listing: listingOf(declaration), run });
  }
}
