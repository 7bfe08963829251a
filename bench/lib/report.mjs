import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as prettier from 'prettier';

const README = path.resolve(import.meta.dirname, '../README.md');
const PICTURE = path.resolve(import.meta.dirname, '../figures.svg');
const BEGIN = '<!-- figures: written by npm run bench -->';
const END = '<!-- end of figures -->';

/** What the figures were measured on and how. */
export function circumstances({ postgresVersion, load, command, skipped }) {
  const cpus = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  const machine = `${cpus.length} cores (${cpus[0]?.model.trim() ?? 'unknown'}), ${memory} GiB`;
  const date = new Date().toISOString().slice(0, 10);
  const left = skipped.map(({ name, reason }) => `\n${name} was skipped: ${reason}.`).join('');
  return `\`${command}\` on ${date}, all on one machine:
${machine}, ${os.type()}, Node.js ${process.versions.node}, PostgreSQL ${postgresVersion}, ${load}.${left}`;
}

/** Text as the rest of the project is formatted. */
export async function format(markdown) {
  const options = await prettier.resolveConfig(README);
  return prettier.format(markdown, { ...options, parser: 'markdown' });
}

/** Puts the figures and the picture in the place of the ones before. */
export async function save(figures, picture) {
  const readme = await readFile(README, 'utf8');
  const [before, after] = [readme.split(BEGIN)[0], readme.split(END)[1]];
  if (after === undefined) throw new Error(`${README} has no place for the figures`);
  const image = `![Requests a second as multiples of the bare server](${path.basename(PICTURE)})`;
  const page = `${before}${BEGIN}\n\n${image}\n\n${figures}\n\n${END}${after}`;
  await writeFile(README, await format(page));
  await writeFile(PICTURE, picture);
}
