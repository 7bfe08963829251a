const UNITS = [
  [1_000_000, 'M'],
  [1_000, 'k'],
];

/** @returns a size as a column heading: 1k, 10k, 1M */
export function shortSize(size) {
  const [unit, letter] = UNITS.find(([least]) => size >= least && size % (least / 10) === 0) ?? [];
  return unit ? `${size / unit}${letter}` : size.toLocaleString('en');
}
