import type { Abstract, Type } from '@nestjs/common';

/**
 * A class of Latitude whose implementation extensions choose. The class is the injection token: of the
 * one implementation, or of an array of all.
 */
export interface ExtensionPoint {
  readonly token: Abstract<unknown>;
  /** What applies if no extension replaces it. */
  readonly defaults: readonly Type<unknown>[];
  readonly isList: boolean;
}

/** Declares a class with exactly one implementation. */
export function replaceable<T>(token: Abstract<T>, byDefault: Type<T>): ExtensionPoint {
  return { token, defaults: [byDefault], isList: false };
}

/** Declares a class of which all implementations apply. They are injected as an array. */
export function addable<T>(token: Abstract<T>, byDefault: readonly Type<T>[] = []): ExtensionPoint {
  return { token, defaults: byDefault, isList: true };
}
