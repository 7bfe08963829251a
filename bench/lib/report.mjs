import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as prettier from 'prettier';

const BENCH = path.resolve(import.meta.dirname, '..');
const README = path.join(BENCH, 'README.md');

/** The sections of the README for each kind of figures, and their charts. */
const SECTIONS = {
  figures: {
    begin: '<!-- figures: written by npm run bench -->',
    end: '<!-- end of figures -->',
    chart: 'figures.svg',
    alt: 'Requests a second as multiples of the bare server',
  },
  flat: {
    begin: '<!-- flat figures: written by npm run bench, with its option flat -->',
    end: '<!-- end of flat figures -->',
    chart: 'flat.svg',
    alt: 'Milliseconds of a request by the leads of its organization',
  },
};

/** Describes the command, date, machine and versions of a run. */
export function describeEnvironment({ postgresVersion, load, command, skipped = [] }) {
  const cpus = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  const machine = `${cpus.length} cores (${cpus[0]?.model.trim() ?? 'unknown'}), ${memory} GiB`;
  const date = new Date().toISOString().slice(0, 10);
  const left = skipped.map(({ name, reason }) => `\n${name} was skipped: ${reason}.`).join('');
  return `\`${command}\` on ${date}, all on one machine:
${machine}, ${os.type()}, Node.js ${process.versions.node}, PostgreSQL ${postgresVersion}, ${load}.${left}`;
}

/** Prints the figures and, without `printOnly`, replaces those in the README. */
export async function publish(kind, { figures, chart, textChart, printOnly }) {
  const formatted = await format(figures);
  console.log(`\n${textChart}\n\n${formatted}`);
  if (!printOnly) await save(SECTIONS[kind], formatted, chart);
}

/** Formats Markdown with Prettier. */
async function format(markdown) {
  const options = await prettier.resolveConfig(README);
  return prettier.format(markdown, { ...options, parser: 'markdown' });
}

async function save({ begin, end, chart: file, alt }, figures, chart) {
  const readme = await readFile(README, 'utf8');
  const [before, after] = [readme.split(begin)[0], readme.split(end)[1]];
  if (after === undefined) throw new Error(`${README} has no place for the figures`);
  const page = `${before}${begin}\n\n![${alt}](${file})\n\n${figures}\n\n${end}${after}`;
  await writeFile(README, await format(page));
  await writeFile(path.join(BENCH, file), chart);
}
