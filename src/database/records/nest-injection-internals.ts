import type { DynamicModule, Type } from '@nestjs/common';
import {
  MODULE_METADATA,
  PROPERTY_DEPS_METADATA,
  SELF_DECLARED_DEPS_METADATA,
} from '@nestjs/common/constants.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

// The metadata of @Inject() and of the imports of @Module(). Its keys are not public API: everything that
// relies on them is in this file.

/** Returns the modules that the decorator of a module imports. */
export function importsOf(module: Type<unknown>): (Type<unknown> | DynamicModule)[] {
  return (Reflect.getMetadata(MODULE_METADATA.IMPORTS, module) ?? []) as Type<unknown>[];
}

/** Returns the tokens that a provider or controller injects by `@Inject()` or by `inject` of a factory. */
export function injectedTokensOf({ inject, metatype }: InstanceWrapper): unknown[] {
  const ofFactory = (inject ?? []).map(tokenOf);
  if (typeof metatype !== 'function') return ofFactory;
  const parameters = (Reflect.getMetadata(SELF_DECLARED_DEPS_METADATA, metatype) ??
    []) as readonly { param: unknown }[];
  const properties = (Reflect.getMetadata(PROPERTY_DEPS_METADATA, metatype) ?? []) as readonly {
    type: unknown;
  }[];
  return [
    ...ofFactory,
    ...parameters.map(({ param }) => param),
    ...properties.map(({ type }) => type),
  ];
}

/** An item of `inject` is an object if the dependency is optional. */
function tokenOf(injected: unknown): unknown {
  const isOptional = typeof injected === 'object' && injected !== null && 'token' in injected;
  return isOptional ? injected.token : injected;
}
