import { textBars, styleOf } from './chart-style.mjs';
import { BARE, IDIOMATIC, LATITUDE, LIMIT, MCP } from './targets.mjs';
import { byName } from './tables.mjs';
import { ratioOf } from './rounds.mjs';

const WIDTH = 760;
const LABELS = 250;
const VALUES = 60;
const BAR = 11;
const GAP = 16;
const HEAD = 64;
const LEGEND = 125;
const CONNECTIONS = 32;

/** CSS classes of the servers, in the order of their colours. */
const CLASSES = ['latitude', 'limit', 'idiomatic', 'platformatic', 'directus', 'strapi'];

/** A chart of the requests a second of each server as multiples of those of the bare server. */
export function chartOf(results, peers) {
  const connections = chartConnections(results);
  const servers = [LATITUDE, LIMIT, IDIOMATIC, ...peers];
  const groups = groupsOf(results, servers, connections);
  const scale = (WIDTH - LABELS - VALUES) / longestOf(groups);
  let y = HEAD;
  const drawn = groups.map((group) => {
    const text = drawGroup(group, y, scale);
    y += group.bars.length * BAR + GAP;
    return text;
  });
  const one = LABELS + scale;
  const title = titleOf(connections);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img">
<title>${title}</title>
${styleOf(CLASSES, 'fill')}
<text x="8" y="20" class="head">${title}</text>
${legend(servers)}
<line x1="${one}" x2="${one}" y1="${HEAD - 8}" y2="${y - GAP + 4}" class="one"/>
${drawn.join('\n')}
</svg>
`;
}

/** The same chart for a terminal. */
export function textChartOf(results, peers) {
  const connections = chartConnections(results);
  const servers = [LATITUDE, LIMIT, IDIOMATIC, ...peers];
  const groups = groupsOf(results, servers, connections);
  const longest = longestOf(groups);
  const printed = groups.map(({ title, bars }) => {
    const rows = bars.map(({ colour, ratio }) => [servers[colour], ratio / longest, ratio]);
    return textBars(title, rows);
  });
  return [titleOf(connections), ...printed].join('\n');
}

/** @returns 32 if that was measured, otherwise the largest number of connections */
function chartConnections(results) {
  const all = results.map(({ connections }) => connections);
  return all.includes(CONNECTIONS) ? CONNECTIONS : Math.max(...all);
}

function titleOf(connections) {
  return `Requests/s as multiples of the ${BARE}’s, ${connections} connections`;
}

function groupsOf(results, servers, connections) {
  return results
    .filter((result) => result.connections === connections)
    .map((result) => groupOf(result, servers));
}

function longestOf(groups) {
  return Math.max(1.2, ...groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio)));
}

function groupOf({ benchCase, byTarget }, servers) {
  const named = byName(byTarget);
  const bar = (server, subject, reference) => {
    return {
      colour: servers.indexOf(server),
      ratio: ratioOf(named.get(subject), named.get(reference)).median,
    };
  };
  if (named.has(MCP)) {
    return { title: `${benchCase.title} (1: REST)`, bars: [bar(LATITUDE, MCP, LATITUDE)] };
  }
  const present = servers.filter((server) => named.has(server));
  const { organizations } = benchCase;
  const counted = organizations > 1 ? `${organizations} organizations` : 'one organization';
  const title = organizations ? `${benchCase.title}, ${counted}` : benchCase.title;
  return { title, bars: present.map((server) => bar(server, server, BARE)) };
}

function drawGroup({ title, bars }, y, scale) {
  const middle = y + (bars.length * BAR) / 2 + 4;
  const rows = bars.map(({ colour, ratio }, i) => {
    const width = Math.max(1, ratio * scale).toFixed(1);
    const top = y + i * BAR;
    const end = LABELS + ratio * scale + 4;
    return `<rect x="${LABELS}" y="${top}" width="${width}" height="${BAR - 2}" class="${CLASSES[colour]}"/>
<text x="${end.toFixed(1)}" y="${top + BAR - 3}" class="value">${ratio.toFixed(2)}</text>`;
  });
  const label = `<text x="${LABELS - 8}" y="${middle}" text-anchor="end">${title}</text>`;
  return [label, ...rows].join('\n');
}

function legend(servers) {
  return servers
    .map((server, i) => {
      const x = 8 + i * LEGEND;
      return `<rect x="${x}" y="32" width="10" height="10" class="${CLASSES[i]}"/>
<text x="${x + 15}" y="41">${server}</text>`;
    })
    .join('\n');
}
