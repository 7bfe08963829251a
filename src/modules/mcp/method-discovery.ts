import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { assertKnownAccess } from '../../platform/http/routes/access.js';
import type { Scope } from '../../platform/access/scopes.js';
import {
  assertSingleton,
  type DecoratedMethod,
  decoratedMethods,
} from '../../platform/discovery/decorated-methods.js';

/** The metadata that every decorator of this module sets. */
interface Declaration {
  readonly name: string;
  readonly scope?: Scope | 'any-key';
  readonly scopes?: readonly Scope[];
}

/** Finds the decorated methods of all providers, in module order. */
@Injectable()
export class MethodDiscovery {
  constructor(private readonly discovery: DiscoveryService) {}

  /**
   * @param metadata the key under which the decorator stores its declaration
   * @returns the methods by their declared names
   * @throws Error when two methods have the same name, or one requires an unknown scope or belongs to
   *   a provider that is not a singleton
   */
  byName<T extends Declaration>(metadata: symbol): Map<string, DecoratedMethod<T>> {
    const found = new Map<string, DecoratedMethod<T>>();
    for (const method of decoratedMethods<T>(this.discovery, metadata)) {
      const { name, scope, scopes = [] } = method.declaration;
      assertSingleton(`${name} of /mcp`, method);
      for (const required of scope === undefined ? scopes : [scope, ...scopes]) {
        assertKnownAccess(`${name} of /mcp`, required);
      }
      const other = found.get(name);
      if (other) throw new Error(`${name} of /mcp is declared by ${ownersOf(other, method)}`);
      found.set(name, method);
    }
    return found;
  }
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
