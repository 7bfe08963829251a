import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as prettier from 'prettier';
import { summarize } from './rounds.mjs';

const README = path.resolve(import.meta.dirname, '../README.md');
const BEGIN = '<!-- figures: written by npm run bench -->';
const END = '<!-- end of figures -->';
const HEADER = [
  ...['Request', 'Connections', 'Server', 'Requests/s', 'Ratio (quartiles)'],
  ...['p50 ms', 'p99 ms', 'CPU µs/request'],
];

/** A Markdown table of all results; the last server is the reference. */
export function tableOf(results, servers) {
  const reference = servers.at(-1);
  const rows = [...results].flatMap(([{ scenario, connections }, byServer]) =>
    servers.map((server) => {
      const figures = summarize(byServer.get(server), byServer.get(reference));
      const { rate, ratio, quartiles, p50, p99, cpu } = figures;
      const range = quartiles.map((quartile) => quartile.toFixed(2)).join('–');
      return [
        ...[scenario.name, connections, server.name, Math.round(rate).toLocaleString('en')],
        server === reference ? '1' : `${ratio.toFixed(2)} (${range})`,
        ...[p50.toFixed(2), p99.toFixed(2), cpu === undefined ? '?' : Math.round(cpu)],
      ];
    }),
  );
  const lines = [HEADER, HEADER.map((_, i) => (i < 3 && i !== 1 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** What the figures were measured on and how. */
export function circumstances({ postgresVersion, load, command }) {
  const cpus = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  const machine = `${cpus.length} cores (${cpus[0]?.model.trim() ?? 'unknown'}), ${memory} GiB`;
  const date = new Date().toISOString().slice(0, 10);
  return `\`${command}\` on ${date}, all on one machine:
${machine}, ${os.type()}, Node.js ${process.versions.node}, PostgreSQL ${postgresVersion}, ${load}.`;
}

/** Text as the rest of the project is formatted. */
export async function format(markdown) {
  const options = await prettier.resolveConfig(README);
  return prettier.format(markdown, { ...options, parser: 'markdown' });
}

/** Puts the figures into bench/README.md in the place of the ones before. */
export async function save(figures) {
  const readme = await readFile(README, 'utf8');
  const [before, after] = [readme.split(BEGIN)[0], readme.split(END)[1]];
  if (after === undefined) throw new Error(`${README} has no place for the figures`);
  await writeFile(README, await format(`${before}${BEGIN}\n\n${figures}\n\n${END}${after}`));
}
