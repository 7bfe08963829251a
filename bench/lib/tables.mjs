import { BARE, IDIOMATIC, LATITUDE, LIMIT, MCP, WITHOUT_TOTAL } from './entrants.mjs';
import { ratioOf, summarize } from './rounds.mjs';

/** How many times as many requests a second Latitude answers as each of the others. */
export function ratioTable(results, peers) {
  const references = [BARE, LIMIT, IDIOMATIC, ...peers];
  const rows = results.flatMap(({ one, connections, byEntrant }) => {
    const named = byName(byEntrant);
    const row = (title, subject, columns) => [
      title,
      connections,
      ...columns.map((name) =>
        named.has(name) ? shown(ratioOf(named.get(subject), named.get(name))) : '',
      ),
    ];
    if (named.has(MCP)) {
      const ratio = shown(ratioOf(named.get(MCP), named.get(LATITUDE)));
      return [[`${one.title}, to get over REST`, connections, ...references.map(() => ''), ratio]];
    }
    const rows = [row(one.title, LATITUDE, references)];
    if (named.has(BARE + WITHOUT_TOTAL)) {
      const columns = references.map((name) => name + WITHOUT_TOTAL);
      rows.push(row(`${one.title}, to lists without`, LATITUDE, columns));
    }
    return rows.map((cells) => [...cells, '']);
  });
  const header = ['Request', 'Connections', ...references.map((name) => `× ${name}`), '× its REST'];
  return markdownTable(header, rows, 1);
}

/** A ratio with its quartiles. */
export function shown({ median, quartiles }) {
  return `${median.toFixed(2)} (${quartiles.map((one) => one.toFixed(2)).join('–')})`;
}

/** All figures of all servers. */
export function figuresTable(results) {
  const rows = results.flatMap(({ one, connections, byEntrant }) =>
    [...byEntrant].map(([{ name }, measurements]) => {
      const { rate, p50, p99, serverCpu, databaseCpu } = summarize(measurements);
      const microseconds = [serverCpu, databaseCpu].map((cpu) => cpu && rounded(cpu));
      return [
        ...[one.title, connections, name, rounded(rate), p50.toFixed(2), p99.toFixed(2)],
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

export function rounded(number) {
  return number < 10 ? number.toFixed(1) : Math.round(number).toLocaleString('en');
}

export function byName(byEntrant) {
  return new Map([...byEntrant].map(([{ name }, measurements]) => [name, measurements]));
}

/** @param lastText the last column of text; the second column holds numbers all the same */
export function markdownTable(header, rows, lastText) {
  const rule = header.map((_, i) => (i === 1 || i > lastText ? '---:' : '---'));
  return [header, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
