// The packages of package.json and package-lock.json.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.dirname(import.meta.dirname);

const read = (file) => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));

export const manifest = read('package.json');

/** Packages that declare their licence in an obsolete form, which the lock file omits. */
const LEGACY_LICENCES = { busboy: 'MIT', streamsearch: 'MIT' };

/** Every package of the lock file, with an entry for each version. */
export const packages = Object.entries(read('package-lock.json').packages)
  .filter(([place]) => place !== '')
  .map(([place, entry]) => {
    const [name] = place.split('node_modules/').slice(-1);
    // An override can replace a package by another one.
    const actualName = entry.name ?? name;
    return {
      ...entry,
      place,
      name: actualName,
      licence: entry.license ?? LEGACY_LICENCES[actualName],
      isProduction: !entry.dev && !entry.devOptional,
    };
  });

/** The direct dependencies of package.json, with their entries of the lock file. */
export const direct = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((kind) =>
  Object.keys(manifest[kind]).map((name) =>
    packages.find(({ place }) => place === `node_modules/${name}`),
  ),
);
