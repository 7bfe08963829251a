import type { Type } from '@nestjs/common';
import type { DeclaredSettings } from '../config/settings.js';
import type { Extension } from './extension.js';

/** Extensions that cannot work, or cannot work together. The message is one line. */
export class ExtensionError extends Error {}

/**
 * The settings of all extensions by the name of the variable. They are read before the extensions are checked.
 * @throws ExtensionError if an item is no extension
 */
export function settingsOf(extensions: readonly Extension[]): DeclaredSettings {
  assertExtensions(extensions);
  return Object.assign({}, ...extensions.map(({ settings }) => settings)) as DeclaredSettings;
}

/** The types allow no other items, but JavaScript does, and an import of a circular dependency is undefined. */
export function assertExtensions(items: readonly unknown[]): void {
  for (const item of items) {
    if (item === undefined) {
      throw new ExtensionError(
        'An item of extensions is undefined. If it is imported, the two files import each other.',
      );
    }
    const { name, module, commands } = item as Partial<Extension & { module: Type }>;
    if (commands !== undefined) continue;
    throw new ExtensionError(
      `${name ?? module?.name} is listed as an extension, but is none. List the result of defineExtension({ name, module }), or list the module in modules.`,
    );
  }
}
