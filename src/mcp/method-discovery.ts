import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { assertKnownAccess } from '../auth/access.js';
import type { Scope } from '../auth/scopes.js';

/** A method of a provider, with the metadata that a decorator has set on it. */
export interface DiscoveredMethod<T> {
  readonly declaration: T;
  readonly run: (...args: unknown[]) => unknown;
}

/** The metadata that every decorator of this module sets. */
interface Declaration {
  readonly name: string;
  readonly scope?: Scope | 'any-key';
  readonly scopes?: readonly Scope[];
}

/** Finds the decorated methods of all providers, in module order. */
@Injectable()
export class MethodDiscovery {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  /**
   * @param metadata the key under which the decorator stores its declaration
   * @returns the methods by their declared names
   * @throws Error when two methods have the same name, or one requires an unknown scope or belongs to
   *   a provider that is no singleton
   */
  byName<T extends Declaration>(metadata: symbol): Map<string, DiscoveredMethod<T>> {
    const found = new Map<string, DiscoveredMethod<T>>();
    const providers = this.discovery.getProviders();
    // Imported modules come before their importers, so a team's own methods come after ours.
    providers.sort((a, b) => (b.host?.distance ?? 0) - (a.host?.distance ?? 0));
    for (const provider of providers) {
      const instance: unknown = provider.instance;
      if (typeof instance !== 'object' || instance === null) continue;
      for (const method of this.methodsOf<T>(instance, metadata)) {
        const { name, scope, scopes = [] } = method.declaration;
        assertSingleton(name, provider);
        for (const required of scope === undefined ? scopes : [scope, ...scopes]) {
          assertKnownAccess(`${name} of /mcp`, required);
        }
        if (found.has(name)) throw new Error(`Two methods are declared as ${name} for /mcp`);
        found.set(name, method);
      }
    }
    return found;
  }

  private methodsOf<T>(provider: object, metadata: symbol): DiscoveredMethod<T>[] {
    const methods = provider as Record<string, DiscoveredMethod<T>['run']>;
    const prototype = Object.getPrototypeOf(provider) as object;
    return this.scanner.getAllMethodNames(prototype).flatMap((name) => {
      const run = methods[name];
      if (!run) return [];
      const declaration = this.reflector.get<T | undefined>(metadata, run);
      return declaration === undefined ? [] : [{ declaration, run: run.bind(provider) }];
    });
  }
}

/** Nest creates other providers for a request or for an injection, but agents call a method by its name. */
function assertSingleton(name: string, provider: InstanceWrapper): void {
  if (provider.isDependencyTreeStatic() && !provider.isTransient) return;
  throw new Error(
    `${name} of /mcp is a method of ${provider.name}, which is no singleton: it or a provider that it injects has the scope REQUEST or TRANSIENT. Inject singletons only, and take what belongs to the request from the Actor.`,
  );
}
