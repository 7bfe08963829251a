/** Connections of the warm-up round. */
const WARM_UP_CONNECTIONS = 32;

/**
 * Measures each case with each target in turn, round after round. The order of the targets rotates.
 * @param measure measures one target, case and number of connections
 * @returns for each case and number of connections, the measurements of each target by round
 */
export async function alternate({ cases, connections, rounds, measure, onRound }) {
  const results = cases.flatMap((benchCase) =>
    connections.map((count) => ({
      ...{ benchCase, connections: count },
      byTarget: new Map(benchCase.targets.map((target) => [target, []])),
    })),
  );
  onRound(0);
  for (const benchCase of cases.filter(({ databaseBound }) => !databaseBound)) {
    for (const target of benchCase.targets) await measure(target, benchCase, WARM_UP_CONNECTIONS);
  }
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    for (const { benchCase, connections: count, byTarget } of results) {
      const order = benchCase.targets.map((_, i, all) => all[(i + round) % all.length]);
      for (const target of order) {
        byTarget.get(target).push(await measure(target, benchCase, count));
      }
    }
  }
  return results;
}

/** @returns the medians of the rounds */
export function summarize(measurements) {
  const medianOf = (name) => {
    const values = measurements.map((measurement) => measurement[name]);
    return values.includes(undefined) ? undefined : quantile(values, 0.5);
  };
  const names = ['rate', 'p50', 'p99', 'serverCpu', 'databaseCpu'];
  return Object.fromEntries(names.map((name) => [name, medianOf(name)]));
}

/**
 * Ratio of two targets: median and quartiles of the ratios of the rounds.
 * @param name the compared figure, by default requests a second
 */
export function ratioOf(measurements, reference, name = 'rate') {
  const ratios = measurements.map(
    (measurement, round) => measurement[name] / reference[round][name],
  );
  return {
    median: quantile(ratios, 0.5),
    quartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
}

/** @returns the quantile, interpolated between two numbers */
export function quantile(numbers, part) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const [below, above] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return below + (above - below) * (position % 1);
}
