// What package.json and package-lock.json say of the packages that Latitude takes in.
import { readFileSync } from 'node:fs';
import path from 'node:path';

export const ROOT = path.dirname(import.meta.dirname);

const read = (file) => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));

export const manifest = read('package.json');

/** Those that name their licence in a form of old, which the lock leaves out. */
const LICENCES_IN_OLD_FORM = { busboy: 'MIT', streamsearch: 'MIT' };

/** Every package of the lock, several versions of one as several. */
export const packages = Object.entries(read('package-lock.json').packages)
  .filter(([place]) => place !== '')
  .map(([place, entry]) => {
    const [name] = place.split('node_modules/').slice(-1);
    // An override may put another package in the place of one.
    const itsName = entry.name ?? name;
    return {
      ...entry,
      place,
      name: itsName,
      licence: entry.license ?? LICENCES_IN_OLD_FORM[itsName],
      isProduction: !entry.dev && !entry.devOptional,
    };
  });

/** The packages that package.json names, as the lock holds them. */
export const direct = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((kind) =>
  Object.keys(manifest[kind]).map((name) =>
    packages.find(({ place }) => place === `node_modules/${name}`),
  ),
);
