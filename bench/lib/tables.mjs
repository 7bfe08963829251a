import { ratioOf, summarize } from './rounds.mjs';
import {
  BARE,
  IDIOMATIC,
  KEYED,
  LATITUDE,
  LIMIT,
  MCP,
  TRANSACTION,
  WITHOUT_TOTAL,
} from './targets.mjs';

/** Additional rows of a request, and the plain request of Latitude that the last column compares it with. */
const VARIANTS = [
  { title: ', to lists without', to: (name) => name + WITHOUT_TOTAL },
  { title: ', to a transaction', to: (name) => name === BARE && TRANSACTION },
  { title: ' with Idempotency-Key', subject: KEYED, to: (name) => name, itself: LATITUDE },
];

/** Requests a second of Latitude as multiples of those of each other server. */
export function ratioTable(results, peers) {
  const references = [BARE, LIMIT, IDIOMATIC, ...peers];
  const rows = results.flatMap(({ benchCase, connections, byTarget }) => {
    const named = byName(byTarget);
    const row = ({ title, subject = LATITUDE, to, itself }) => [
      ...[benchCase.title + title, connections, benchCase.organizations ?? ''],
      ...[...references.map(to), itself].map((name) =>
        named.has(subject) && named.has(name)
          ? formatRatio(ratioOf(named.get(subject), named.get(name)))
          : '',
      ),
    ];
    if (named.has(MCP)) {
      return [row({ title: '', subject: MCP, to: () => undefined, itself: LATITUDE })];
    }
    const variants = VARIANTS.filter(({ subject, to }) =>
      subject ? named.has(subject) : named.has(to(BARE)),
    );
    return [{ title: '', to: (name) => name }, ...variants].map(row);
  });
  const header = [
    ...['Request', 'Connections', 'Organizations'],
    ...[...references, 'plain REST'].map((name) => `× ${name}`),
  ];
  return markdownTable(header, rows, 0);
}

/** A ratio with its quartiles. */
export function formatRatio({ median, quartiles }) {
  return `${median.toFixed(2)} (${quartiles.map((quartile) => quartile.toFixed(2)).join('–')})`;
}

/** All figures of all servers and cases. */
export function figuresTable(results) {
  const rows = results.flatMap(({ benchCase, connections, byTarget }) => {
    const [[, subject]] = byTarget;
    return [...byTarget].map(([{ name }, measurements], i) => [
      ...[benchCase.title, connections, benchCase.organizations ?? '', name],
      i === 0 ? '' : formatRatio(ratioOf(subject, measurements)),
      ...figureCells(summarize(measurements)),
    ]);
  });
  const header = [
    ...['Request', 'Connections', 'Organizations', 'Server', 'Latitude is ×', 'Requests/s'],
    ...['p50 ms', 'p99 ms', 'Server CPU µs', 'PostgreSQL CPU µs', 'Server memory MiB', 'Refused'],
  ];
  return markdownTable(header, rows, 3);
}

function figureCells({ rate, p50, p99, serverCpu, databaseCpu, memory, refused }) {
  const ofSystem = [serverCpu, databaseCpu, memory].map((figure) =>
    figure === undefined ? '' : formatNumber(figure),
  );
  return [formatNumber(rate), p50.toFixed(2), p99.toFixed(2), ...ofSystem, refused || ''];
}

export function formatNumber(number) {
  return number < 10 ? number.toFixed(1) : Math.round(number).toLocaleString('en');
}

export function byName(byTarget) {
  return new Map([...byTarget].map(([{ name }, measurements]) => [name, measurements]));
}

/** @param lastText index of the last text column; the second column always has numbers */
export function markdownTable(header, rows, lastText) {
  const rule = header.map((_, i) => (i === 1 || i > lastText ? '---:' : '---'));
  return [header, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
