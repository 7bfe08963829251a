import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Scope } from '../auth/scopes.js';
import { type DeclaredMethod, DeclaredMethods } from './declared-methods.js';
import { TOOL, type ToolDeclaration } from './tool.decorator.js';
import { listingOf, type ToolListing } from './tool-schema.js';

/** The tools that the providers of all modules declare. */
@Injectable()
export class ToolRegistry implements OnModuleInit {
  private tools: ReadonlyMap<string, DeclaredMethod<ToolDeclaration>> = new Map();
  private listings: readonly (readonly [scope: Scope | 'any-key', ToolListing])[] = [];

  constructor(private readonly methods: DeclaredMethods) {}

  /** @throws Error where two tools have one name */
  onModuleInit(): void {
    this.tools = this.methods.byName<ToolDeclaration>(TOOL);
    this.listings = [...this.tools.values()].map(({ declaration }) => {
      return [declaration.scope, listingOf(declaration)];
    });
  }

  find(name: string): DeclaredMethod<ToolDeclaration> | undefined {
    return this.tools.get(name);
  }

  /** The tools that a key with these scopes may call, always in the same order. */
  listFor(scopes: ReadonlySet<string>): ToolListing[] {
    return this.listings
      .filter(([scope]) => scope === 'any-key' || scopes.has(scope))
      .map(([, listing]) => listing);
  }
}
