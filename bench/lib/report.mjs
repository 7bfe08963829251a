import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as prettier from 'prettier';

const BENCH = path.resolve(import.meta.dirname, '..');
const README = path.join(BENCH, 'README.md');

/** The sections of the README for each kind of figures, their charts, and the pages of their details. */
const SECTIONS = {
  figures: {
    begin: '<!-- figures: written by npm run bench -->',
    end: '<!-- end of figures -->',
    chart: 'figures.svg',
    alt: 'Requests a second as multiples of the bare server',
    page: 'figures.md',
    title: 'All figures of the comparison',
  },
  goals: {
    begin: '<!-- goals: written by npm run bench, with its option goals -->',
    end: '<!-- end of goals -->',
    page: 'goals.md',
    title: 'All figures of the goals',
  },
  flat: {
    begin: '<!-- flat figures: written by npm run bench, with its option flat -->',
    end: '<!-- end of flat figures -->',
    chart: 'flat.svg',
    alt: 'Milliseconds of a request by the leads of its organization',
  },
};

/** Describes the command, date, machine and versions of a run. */
export function describeEnvironment({ postgresVersion, load, command, notes = [] }) {
  const cpus = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  const machine = `${cpus.length} cores (${cpus[0]?.model.trim() ?? 'unknown'}), ${memory} GiB`;
  const date = new Date().toISOString().slice(0, 10);
  return `\`${command}\` on ${date}, all on one machine:
${machine}, ${os.type()}, Node.js ${process.versions.node}, PostgreSQL ${postgresVersion}, ${[`${load}.`, ...notes].join('\n')}`;
}

/**
 * Prints the figures and, without `printOnly`, replaces those in the README.
 * @param details a table for a page of its own
 */
export async function publish(kind, { figures, details, chart, textChart, printOnly }) {
  const [formatted, all] = [await format(figures), details && (await format(details))];
  console.log(
    [textChart, formatted, all]
      .filter(Boolean)
      .map((part) => `\n${part}`)
      .join('\n'),
  );
  if (printOnly) return;
  const { chart: chartFile, page, title, ...section } = SECTIONS[kind];
  const image = chart ? `![${section.alt}](${chartFile})\n\n` : '';
  const link = page ? `\n\n[${title}](${page})` : '';
  await save(section, image + figures + link);
  if (chart) await writeFile(path.join(BENCH, chartFile), chart);
  if (page) await writeFile(path.join(BENCH, page), await format(`# ${title}\n\n${details}`));
}

/** Formats Markdown with Prettier. */
async function format(markdown) {
  const options = await prettier.resolveConfig(README);
  return prettier.format(markdown, { ...options, parser: 'markdown' });
}

async function save({ begin, end }, figures) {
  const readme = await readFile(README, 'utf8');
  const [before, after] = [readme.split(begin)[0], readme.split(end)[1]];
  if (after === undefined) throw new Error(`${README} has no place for the figures`);
  await writeFile(README, await format(`${before}${begin}\n\n${figures}\n\n${end}${after}`));
}
