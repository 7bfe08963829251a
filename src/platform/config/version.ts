import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of `package.json`. */
export const PACKAGE_ROOT = findPackage(import.meta.dirname);

/** The version in `package.json`, and the versions of Node.js on which it runs, as a semver range. */
export const { version: VERSION, node: NODE_VERSIONS } = readManifest();

function readManifest() {
  const text = readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8');
  const { version, engines } = JSON.parse(text) as { version: string; engines: { node: string } };
  return { version, node: engines.node };
}

/** Searches upwards, because sources and build have different depths in the package. */
function findPackage(directory: string): string {
  return existsSync(join(directory, 'package.json')) ? directory : findPackage(dirname(directory));
}
