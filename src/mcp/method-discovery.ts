import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { assertKnownAccess } from '../auth/access.js';
import type { Scope } from '../auth/scopes.js';
import {
  assertSingleton,
  type DecoratedMethod,
  decoratedMethods,
} from '../http/decorated-methods.js';

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
      if (other) {
        const owners = [other, method].map(({ provider }) => String(provider.name));
        throw new Error(
          `${name} of /mcp is declared by ${owners.join(' and by ')}. Rename one of them.`,
        );
      }
      found.set(name, method);
    }
    return found;
  }
}
