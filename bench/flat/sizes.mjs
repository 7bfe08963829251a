const UNITS = [
  [1_000_000, 'M'],
  [1_000, 'k'],
];

/** A size as it heads a column: 1k, 10k, 1M. */
export function shortSize(size) {
  const [unit, letter] = UNITS.find(([least]) => size >= least && size % (least / 10) === 0) ?? [];
  return unit ? `${size / unit}${letter}` : size.toLocaleString('en');
}
