// Writes the software bill of materials of the image to a file, in the format of CycloneDX: the packages that
// docker/Dockerfile installs, and those whose code is part of the console. `npm sbom --omit dev` leaves out packages that
// are installed.
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { manifest, packages } from './packages.mjs';

/** Packages for development whose code scripts/console.mjs bundles. */
const BUNDLED = ['preact'];

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node scripts/sbom.mjs FILE');

const isInImage = ({ name, isProduction, optional }) =>
  (isProduction && !optional) || BUNDLED.includes(name);
const components = packages.filter(isInImage).map(componentOf);
const document = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  serialNumber: `urn:uuid:${randomUUID()}`,
  version: 1,
  metadata: {
    timestamp: new Date().toISOString(),
    component: {
      type: 'application',
      name: manifest.name,
      version: manifest.version,
      description: manifest.description,
      licenses: licencesOf(manifest.license),
    },
  },
  // A package that is installed in several folders is one component.
  components: [...new Map(components.map((one) => [one['bom-ref'], one])).values()],
};
writeFileSync(file, `${JSON.stringify(document, undefined, 2)}\n`);

function componentOf({ name, version, licence, integrity }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    hashes: [{ alg: 'SHA-512', content }],
    licenses: licencesOf(licence),
  };
}

function licencesOf(licence) {
  return /^[\w.-]+$/.test(licence) ? [{ license: { id: licence } }] : [{ expression: licence }];
}
