import { textBars, styleOf } from '../lib/chart-style.mjs';
import { shortSize } from './sizes.mjs';

const WIDTH = 760;
const HEIGHT = 400;
const PLOT = { left: 64, right: 640, top: 48, bottom: 352 };
const LINE_HEIGHT = 15;
const TITLE = 'Milliseconds of a request (p50) by the leads of its organization';
const STEPS = [1, 2, 5];

/** A line chart of the cases with a `chartLabel`, with logarithmic scales. */
export function chartOf(results, sizes) {
  const lines = chartLinesOf(results);
  const ticks = ticksAround(lines.flatMap(({ p50 }) => p50));
  const x = scaleOf(sizes[0], sizes.at(-1), PLOT.left, PLOT.right);
  const y = scaleOf(ticks[0], ticks.at(-1), PLOT.bottom, PLOT.top);
  const classes = lines.map((_, i) => `line${i}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">
<title>${TITLE}</title>
${styleOf(classes, 'stroke')}
<text x="8" y="20" class="head">${TITLE}</text>
${ticks.map((tick) => drawTick(tick, y(tick))).join('\n')}
${sizes.map((size) => drawSize(size, x(size))).join('\n')}
${lines.map(({ p50 }, i) => drawLine(p50, classes[i], sizes, { x, y })).join('\n')}
${drawLabels(lines, y)}
</svg>
`;
}

/** The same as bars for a terminal, with a logarithmic scale. */
export function textChartOf(results, sizes) {
  const lines = chartLinesOf(results);
  const ticks = ticksAround(lines.flatMap(({ p50 }) => p50));
  const part = scaleOf(ticks[0], ticks.at(-1), 0, 1);
  const printed = lines.map(({ title, p50 }) =>
    textBars(
      title,
      p50.map((time, i) => [shortSize(sizes[i]), part(time), time]),
    ),
  );
  return [TITLE, ...printed].join('\n');
}

function chartLinesOf(results) {
  return results
    .filter(({ benchCase }) => benchCase.chartLabel)
    .map(({ benchCase, p50 }) => ({ title: benchCase.chartLabel, p50 }));
}

/** @returns 1, 2 and 5 times powers of ten that enclose the values */
function ticksAround(values) {
  const powers = Array.from({ length: 10 }, (_, i) => i - 4);
  const all = powers.flatMap((power) => STEPS.map((step) => Number(`${step}e${power}`)));
  const first = all.findLastIndex((tick) => tick < Math.min(...values));
  const last = all.findIndex((tick) => tick > Math.max(...values));
  return all.slice(first, last + 1);
}

function scaleOf(min, max, from, to) {
  return (value) => from + (Math.log(value / min) / Math.log(max / min)) * (to - from);
}

function drawTick(tick, y) {
  const { left, right } = PLOT;
  const line = `<line x1="${left}" x2="${right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"`;
  return `${line} class="one" opacity="0.4"/>
<text x="${left - 8}" y="${(y + 4).toFixed(1)}" text-anchor="end">${tick} ms</text>`;
}

function drawSize(size, x) {
  const y = PLOT.bottom + 20;
  return `<text x="${x.toFixed(1)}" y="${y}" text-anchor="middle">${shortSize(size)}</text>`;
}

function drawLine(p50, name, sizes, { x, y }) {
  const points = p50.map((time, i) => `${x(sizes[i]).toFixed(1)},${y(time).toFixed(1)}`);
  return `<polyline points="${points.join(' ')}" fill="none" stroke-width="2" class="${name}"/>`;
}

/** Labels next to the ends of the lines, moved down if two would overlap. */
function drawLabels(lines, y) {
  let lowest = 0;
  return lines
    .map(({ title, p50 }, i) => ({ title, time: p50.at(-1), name: `line${i}` }))
    .toSorted((a, b) => b.time - a.time)
    .map(({ title, time, name }) => {
      lowest = Math.max(y(time), lowest + LINE_HEIGHT);
      const middle = lowest.toFixed(1);
      const [end, start] = [PLOT.right + 24, PLOT.right + 8];
      const key = `<line x1="${start}" x2="${end}" y1="${middle}" y2="${middle}"`;
      return `${key} stroke-width="3" class="${name}"/>
<text x="${end + 4}" y="${(lowest + 4).toFixed(1)}">${title}</text>`;
    })
    .join('\n');
}
