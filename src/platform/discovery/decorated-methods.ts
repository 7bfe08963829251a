import { type DiscoveryService, MetadataScanner } from '@nestjs/core';

/** A provider or a controller in Nest's container. */
export type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** A method of a provider or a controller, with the metadata that a decorator has set on it. */
export interface DecoratedMethod<T> {
  readonly declaration: T;
  readonly name: string;
  readonly run: (...args: unknown[]) => unknown;
  readonly provider: InstanceWrapper;
}

/** Finds the methods of all providers and controllers with this metadata, in module order. */
export function decoratedMethods<T>(
  discovery: DiscoveryService,
  metadata: string | symbol,
): DecoratedMethod<T>[] {
  const providers = [...discovery.getProviders(), ...discovery.getControllers()];
  // Imported modules come before their importers, so the methods of a team come after those of Latitude.
  providers.sort((a, b) => (b.host?.distance ?? 0) - (a.host?.distance ?? 0));
  return providers.flatMap((provider) => methodsOf<T>(provider, metadata));
}

/**
 * Checks that a method can be called outside of a request, for which Nest creates no instance of its own.
 * @param subject the method, as the error names it
 * @throws Error if the provider of the method is not a singleton
 */
export function assertSingleton(subject: string, { provider }: DecoratedMethod<unknown>): void {
  if (provider.isDependencyTreeStatic() && !provider.isTransient) return;
  throw new Error(
    `${subject} is a method of ${provider.name}, which is not a singleton: it or a provider that it injects has the scope REQUEST or TRANSIENT. Inject singletons only, and take what belongs to the request from the Call.`,
  );
}

const SCANNER = new MetadataScanner();

function methodsOf<T>(provider: InstanceWrapper, metadata: string | symbol): DecoratedMethod<T>[] {
  const instance: unknown = provider.instance;
  if (typeof instance !== 'object' || instance === null) return [];
  const methods = instance as Record<string, DecoratedMethod<T>['run']>;
  return decoratedNames(Object.getPrototypeOf(instance) as object).flatMap((name) => {
    const run = methods[name];
    if (!run) return [];
    const declaration = Reflect.getOwnMetadata(metadata, run) as T | undefined;
    if (declaration === undefined) return [];
    return [{ declaration, name, run: run.bind(instance), provider }];
  });
}

/** The names of the methods with metadata, by prototype. Several kinds of metadata are searched at each start. */
const names = new WeakMap<object, readonly string[]>();

function decoratedNames(prototype: object): readonly string[] {
  const methods = prototype as Record<string, object>;
  const known =
    names.get(prototype) ??
    SCANNER.getAllMethodNames(prototype).filter(
      (name) => Reflect.getOwnMetadataKeys(methods[name] ?? {}).length > 0,
    );
  names.set(prototype, known);
  return known;
}
