import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version in `package.json`. */
export const VERSION = readVersion(dirname(fileURLToPath(import.meta.url)));

/** Searches upwards, because sources and build have different depths in the package. */
function readVersion(directory: string): string {
  const manifest = join(directory, 'package.json');
  if (!existsSync(manifest)) return readVersion(dirname(directory));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
