import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of `package.json`. */
export const PACKAGE_ROOT = findPackage(import.meta.dirname);

/** The version in `package.json`. */
export const VERSION = (
  JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as { version: string }
).version;

/** Searches upwards, because sources and build have different depths in the package. */
function findPackage(directory: string): string {
  return existsSync(join(directory, 'package.json')) ? directory : findPackage(dirname(directory));
}
