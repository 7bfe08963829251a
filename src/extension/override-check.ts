import {
  type DynamicModule,
  Inject,
  Injectable,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { ApplicationConfig, DiscoveryModule, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { ExtensionPoint } from './extension-point.js';

export type ModuleImport = Type<unknown> | DynamicModule;

/** Injection token of the modules that Latitude consists of. */
export const OWN_MODULES = Symbol('own modules');

/** Injection token of all extension points. */
export const POINTS = Symbol('extension points');

/** Providers that Nest adds to every module. */
const OF_EVERY_MODULE: ReadonlySet<unknown> = new Set([ModuleRef, ApplicationConfig]);

/** Fails startup if another module provides a class of Latitude, because Latitude would not use it. */
@Injectable()
export class OverrideCheck implements OnModuleInit {
  constructor(
    private readonly modules: ModulesContainer,
    @Inject(OWN_MODULES) private readonly ownModules: readonly ModuleImport[],
    @Inject(POINTS) private readonly points: readonly ExtensionPoint[],
  ) {}

  /** @throws Error with the module, the class and the remedy */
  onModuleInit(): void {
    const ownClasses = withImports(this.ownModules);
    const all = [...this.modules.values()].map(({ metatype, providers }) => ({
      metatype,
      isOwn: ownClasses.has(metatype),
      classes: [...providers.keys()].filter(
        (token) => typeof token === 'function' && token !== metatype && !OF_EVERY_MODULE.has(token),
      ) as Type<unknown>[],
    }));
    const own = new Set(all.flatMap(({ isOwn, classes }) => (isOwn ? classes : [])));
    for (const { metatype, isOwn, classes } of all) {
      const found = isOwn ? undefined : classes.find((one) => own.has(one));
      if (found) throw new Error(`${metatype.name} provides ${found.name}, ${this.remedy(found)}`);
    }
  }

  private remedy(token: Type<unknown>): string {
    const point = this.points.find((one) => one.token === token);
    return point
      ? `which Latitude uses only if an extension declares it in ${point.isList ? 'adds or replaces' : 'replaces'}.`
      : 'which cannot be replaced: Latitude would not use it. Import the module that exports it.';
  }
}

/** Returns the classes of the modules and of what their decorators import. */
function withImports(modules: readonly ModuleImport[]): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const visit = (one: ModuleImport) => {
    const metatype = 'module' in one ? one.module : one;
    if (found.has(metatype) || metatype === DiscoveryModule) return;
    found.add(metatype);
    const imports = Reflect.getMetadata('imports', metatype) as ModuleImport[] | undefined;
    imports?.forEach(visit);
  };
  modules.forEach(visit);
  return found;
}
