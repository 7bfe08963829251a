import { BARE, IDIOMATIC, LATITUDE, LIMIT, MCP, WITHOUT_TOTAL } from './targets.mjs';
import { ratioOf, summarize } from './rounds.mjs';

/** Requests a second of Latitude as multiples of those of each other server. */
export function ratioTable(results, peers) {
  const references = [BARE, LIMIT, IDIOMATIC, ...peers];
  const rows = results.flatMap(({ benchCase, connections, byTarget }) => {
    const named = byName(byTarget);
    const row = (title, subject, columns) => [
      title,
      connections,
      ...columns.map((name) =>
        named.has(name) ? formatRatio(ratioOf(named.get(subject), named.get(name))) : '',
      ),
    ];
    if (named.has(MCP)) {
      const ratio = formatRatio(ratioOf(named.get(MCP), named.get(LATITUDE)));
      return [
        [`${benchCase.title}, to get over REST`, connections, ...references.map(() => ''), ratio],
      ];
    }
    const rows = [row(benchCase.title, LATITUDE, references)];
    if (named.has(BARE + WITHOUT_TOTAL)) {
      const columns = references.map((name) => name + WITHOUT_TOTAL);
      rows.push(row(`${benchCase.title}, to lists without`, LATITUDE, columns));
    }
    return rows.map((cells) => [...cells, '']);
  });
  const header = ['Request', 'Connections', ...references.map((name) => `× ${name}`), '× its REST'];
  return markdownTable(header, rows, 1);
}

/** A ratio with its quartiles. */
export function formatRatio({ median, quartiles }) {
  return `${median.toFixed(2)} (${quartiles.map((quartile) => quartile.toFixed(2)).join('–')})`;
}

/** All figures of all servers and cases. */
export function figuresTable(results) {
  const rows = results.flatMap(({ benchCase, connections, byTarget }) =>
    [...byTarget].map(([{ name }, measurements]) => {
      const { rate, p50, p99, serverCpu, databaseCpu } = summarize(measurements);
      const microseconds = [serverCpu, databaseCpu].map((cpu) => cpu && formatNumber(cpu));
      return [
        ...[benchCase.title, connections, name, formatNumber(rate), p50.toFixed(2), p99.toFixed(2)],
        ...microseconds.map((cpu) => cpu ?? ''),
      ];
    }),
  );
  const header = [
    ...['Request', 'Connections', 'Server', 'Requests/s', 'p50 ms', 'p99 ms'],
    ...['Server CPU µs', 'PostgreSQL CPU µs'],
  ];
  return markdownTable(header, rows, 2);
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
