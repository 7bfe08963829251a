import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version of this Latitude, as its package says. */
export const VERSION = readVersion(dirname(fileURLToPath(import.meta.url)));

/** Source and build lie at different depths under the package. */
function readVersion(directory: string): string {
  const manifest = join(directory, 'package.json');
  if (!existsSync(manifest)) return readVersion(dirname(directory));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
