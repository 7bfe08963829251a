import { ratioOf, summarize } from '../lib/rounds.mjs';
import { markdownTable, formatNumber, formatRatio } from '../lib/tables.mjs';
import { FIRST_PAGE } from './cases.mjs';
import { shortSize } from './sizes.mjs';
import { CONNECTIONS } from './throughput.mjs';

/** The p50 of each case by size, compared with its goal. */
export function latencyTable(results, sizes) {
  const [smallest, largest] = [sizes[0], sizes.at(-1)].map(shortSize);
  const firstPage = results.find(({ benchCase }) => benchCase.title === FIRST_PAGE).bySize.at(-1);
  const references = ({ bySize, scan }) => ({
    smallest: [bySize[0], smallest],
    'first page': [firstPage, 'first page'],
    scan: [scan, scan && `scan of ${formatNumber(summarize(scan).p50)} ms`],
  });
  const rows = results.map((result) => {
    const { title, goal } = result.benchCase;
    const [reference, name] = references(result)[goal.to];
    const ratio = ratioOf(result.bySize.at(-1), reference, 'p50');
    const goalCells = [`≤ ${goal.max} × ${name}`, met(ratio.median <= goal.max)];
    return [title, ...result.p50.map(milliseconds), formatRatio(ratio), ...goalCells];
  });
  const columns = sizes.map((size) => `${shortSize(size)}, ms`);
  return markdownTable(['Request', ...columns, `Ratio at ${largest}`, 'Goal', 'Met'], rows, 0);
}

/** Requests a second in the largest organization, compared with the reference. */
export function loadTable(results) {
  const rows = results.map(({ benchCase, byTarget }) => {
    const [[subject, measured], [reference, compared]] = byTarget;
    const ratio = ratioOf(measured, compared);
    const rates = [
      [subject, measured],
      [reference, compared],
    ].map(([{ name }, some]) => `${formatNumber(summarize(some).rate)} (${name})`);
    return [
      benchCase.title,
      ...rates,
      formatRatio(ratio),
      `≥ ${benchCase.goal}`,
      met(ratio.median >= benchCase.goal),
    ];
  });
  const rates = ['Requests/s', 'compared with'];
  const header = [`${CONNECTIONS} connections`, ...rates, 'Ratio', 'Goal', 'Met'];
  return markdownTable(header, rows, 0);
}

function milliseconds(time) {
  return time < 100 ? time.toFixed(2) : formatNumber(time);
}

function met(isMet) {
  return isMet ? 'yes' : '**no**';
}
