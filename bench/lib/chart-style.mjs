/** Colours of the series in light and in dark mode. */
const COLOURS = [
  ['#1f7a6d', '#4cc2ae'],
  ['#8a63c9', '#b79be6'],
  ['#b0702a', '#d9a05b'],
  ['#5b6b7b', '#9aa9b8'],
  ['#4b6fb3', '#8aa9e2'],
  ['#a83f5f', '#e58aa4'],
];

/** Widths of the longest bar and of the names in a terminal. */
const COLUMNS = 60;
const NAMES = 14;

/**
 * The style sheet of all charts.
 * @param property the SVG property that gets a colour for each class
 */
export function styleOf(classes, property) {
  const rules = (shade) =>
    classes.map((name, i) => `.${name} { ${property}: ${COLOURS[i][shade]} }`).join(' ');
  return `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 } .head { font-weight: 600; font-size: 14px }
.value { font-size: 9px } .one { stroke: #59636e; stroke-dasharray: 3 3 } ${rules(0)}
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .one { stroke: #9198a1 } ${rules(1)} }
</style>`;
}

/**
 * A bar chart for a terminal.
 * @param rows name, length as a fraction of the longest bar, and value of each bar
 */
export function textBars(title, rows) {
  const lines = rows.map(([name, part, value]) => {
    const bar = '█'.repeat(Math.round(part * COLUMNS)) || '▏';
    return `  ${name.padEnd(NAMES)} ${bar} ${value.toFixed(2)}`;
  });
  return [title, ...lines].join('\n');
}
