import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { insufficientScope, type Scope } from '../../platform/access/scopes.js';
import type { Call } from '../../platform/data/call.js';
import { isScope } from '../../platform/access/scopes.js';
import { unknownScope } from '../../platform/http/routes/access.js';
import {
  assertSingleton,
  type DecoratedMethod,
  decoratedMethods,
} from '../../platform/discovery/decorated-methods.js';

/** What every decorator of this module declares about its method. */
export interface Declaration {
  readonly name: string;
  readonly scope?: Scope | 'any-key';
  readonly scopes?: readonly Scope[];
  /** Scopes of which the key needs at least one. */
  readonly someScope?: readonly Scope[];
}

/** The methods of all providers that one decorator marks, in module order. */
@Injectable()
export abstract class DeclaredMethods<T extends Declaration> implements OnModuleInit {
  /** The key under which the decorator stores its declaration. */
  protected abstract readonly metadata: symbol;
  protected readonly methods = new Map<string, DecoratedMethod<T>>();

  constructor(private readonly discovery: DiscoveryService) {}

  /**
   * @throws Error when two methods have the same name, or one requires an unknown scope or belongs to
   *   a provider that is not a singleton
   */
  onModuleInit(): void {
    for (const method of decoratedMethods<T>(this.discovery, this.metadata)) {
      const { name } = method.declaration;
      assertSingleton(`${name} of /mcp`, method);
      const { someScope = [] } = method.declaration;
      for (const scope of [...scopesOf(method.declaration), ...someScope]) {
        if (!isScope(scope)) throw new Error(unknownScope(`${name} of /mcp`, scope));
      }
      const other = this.methods.get(name);
      if (other) throw new Error(`${name} of /mcp is declared by ${ownersOf(other, method)}`);
      this.methods.set(name, method);
    }
  }

  /** The scopes that a method needs; none if there is no such method. */
  scopesOf(name: string): readonly Scope[] {
    const method = this.methods.get(name);
    return method ? scopesOf(method.declaration) : [];
  }

  /** @returns the declarations that a key with these scopes may use, in a fixed order */
  protected allowed(scopes: ReadonlySet<string>): T[] {
    return [...this.methods.values()]
      .map(({ declaration }) => declaration)
      .filter((declaration) => missingScopeOf(declaration, scopes) === undefined);
  }

  /**
   * @returns undefined when there is no such method
   * @throws ApiError `insufficient_scope`
   */
  findFor({ actor }: Call, name: string): DecoratedMethod<T> | undefined {
    const method = this.methods.get(name);
    const missing = method && missingScopeOf(method.declaration, actor.scopes);
    if (missing) throw insufficientScope(missing);
    return method;
  }
}

/** Returns a scope that a method needs and the key lacks. */
export function missingScopeOf(
  declaration: Declaration,
  granted: ReadonlySet<string>,
): Scope | undefined {
  const missing = scopesOf(declaration).find((scope) => !granted.has(scope));
  if (missing !== undefined) return missing;
  const { someScope = [] } = declaration;
  return someScope.some((scope) => granted.has(scope)) ? undefined : someScope[0];
}

function scopesOf({ scope, scopes = [] }: Declaration): readonly Scope[] {
  return scope === undefined || scope === 'any-key' ? scopes : [scope, ...scopes];
}

/** Returns the two providers that declare the same name, and the remedy. */
function ownersOf(
  { provider: one }: DecoratedMethod<unknown>,
  { provider: other }: DecoratedMethod<unknown>,
): string {
  if (one.metatype !== other.metatype) {
    return `${String(one.name)} and by ${String(other.name)}. Rename one of them.`;
  }
  return `${String(one.name)}, which ${one.host?.name} and ${other.host?.name} provide. Provide it in one of these modules, and import this module in the other.`;
}
