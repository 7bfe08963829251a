import type { DynamicModule, OnModuleInit, Type } from '@nestjs/common';
import { ApplicationConfig, DiscoveryModule, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { ExtensionPoint } from './extension-point.js';

export type ModuleImport = Type<unknown> | DynamicModule;

/** A module in Nest's container. */
type Module = NonNullable<ReturnType<ModulesContainer['get']>>;

/** Providers that Nest adds to every module. */
const OF_EVERY_MODULE: ReadonlySet<unknown> = new Set([ModuleRef, ApplicationConfig]);

/**
 * Fails startup if another module provides a class of Latitude, because Latitude would not use it. The modules of Latitude
 * are those that it lists, what they import, and the module that has this check.
 */
export class OverrideCheck implements OnModuleInit {
  constructor(
    private readonly modules: ModulesContainer,
    /** The modules that Latitude consists of. */
    private readonly ownModules: readonly ModuleImport[],
    private readonly points: readonly ExtensionPoint[],
  ) {}

  /** @throws Error with the module, the class and the remedy */
  onModuleInit(): void {
    const ownTypes = new Set(this.ownModules.map((one) => ('module' in one ? one.module : one)));
    const all = [...this.modules.values()];
    const own = new Set([
      ...withImports(all.filter(({ metatype }) => ownTypes.has(metatype))),
      // Without its imports, which are modules of extensions.
      ...all.filter(({ providers }) => providers.has(OverrideCheck)),
    ]);
    const ownClasses = new Set([...own].flatMap(classesOf));
    for (const module of all) {
      const found = own.has(module) ? undefined : classesOf(module).find((c) => ownClasses.has(c));
      if (found) throw new Error(`${module.name} provides ${found.name}, ${this.remedy(found)}`);
    }
  }

  private remedy(token: Type<unknown>): string {
    const point = this.points.find((one) => one.token === token);
    return point
      ? `which Latitude uses only if an extension declares it in ${point.isList ? 'adds or replaces' : 'replaces'}.`
      : 'which cannot be replaced: Latitude would not use it. Import the module that exports it.';
  }
}

/** Adds what the modules import, except modules that a team imports as well: global ones, and the `DiscoveryModule` of Nest. */
function withImports(modules: readonly Module[]): ReadonlySet<Module> {
  const found = new Set(modules);
  // The iteration includes what is added to the set.
  for (const { imports } of found) {
    for (const one of imports) {
      if (!one.isGlobal && one.metatype !== DiscoveryModule) found.add(one);
    }
  }
  return found;
}

/** Returns the classes that a module provides. */
function classesOf({ metatype, providers }: Module): Type<unknown>[] {
  return [...providers.keys()].filter(
    (token): token is Type<unknown> =>
      typeof token === 'function' && token !== metatype && !OF_EVERY_MODULE.has(token),
  );
}
