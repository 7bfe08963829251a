/** Connections of the warm-up round. */
const WARM_UP_CONNECTIONS = 32;

/**
 * Measures each case with each of its targets and numbers of connections in turn, round after round. The
 * order of the targets rotates.
 * @param measure measures one target, case and number of connections
 * @param onRound receives the number of each round at its start, 0 for the warm-up
 * @param onFailure receives an error after the first round and the number of complete rounds, which are
 *   returned; without it, every error is thrown
 * @returns for each case and number of connections, the measurements of each target by round
 */
export async function alternate({ cases, rounds, measure, onRound, onFailure }) {
  const results = cases.flatMap((benchCase) =>
    benchCase.connections.map((connections) => ({
      ...{ benchCase, connections },
      byTarget: new Map(benchCase.targets.map((target) => [target, []])),
    })),
  );
  onRound(0);
  for (const benchCase of cases.filter(({ skipsWarmUp }) => !skipsWarmUp)) {
    for (const target of benchCase.targets) await measure(target, benchCase, WARM_UP_CONNECTIONS);
  }
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    try {
      for (const result of results) await measureRound(result, round, measure);
    } catch (error) {
      if (round === 1 || !onFailure) throw error;
      onFailure(error, round - 1);
      return results.map((result) => withRounds(result, round - 1));
    }
  }
  return results;
}

async function measureRound({ benchCase, connections, byTarget }, round, measure) {
  const order = benchCase.targets.map((_, i, all) => all[(i + round) % all.length]);
  for (const target of order) {
    byTarget.get(target).push(await measure(target, benchCase, connections));
  }
}

function withRounds({ byTarget, ...result }, rounds) {
  const measured = [...byTarget].map(([target, all]) => [target, all.slice(0, rounds)]);
  return { ...result, byTarget: new Map(measured) };
}

/** @returns the medians of the rounds */
export function summarize(measurements) {
  const medianOf = (name) => {
    const values = measurements.map((measurement) => measurement[name]);
    return values.includes(undefined) ? undefined : quantile(values, 0.5);
  };
  const names = ['rate', 'p50', 'p99', 'serverCpu', 'databaseCpu', 'memory', 'refused'];
  return Object.fromEntries(names.map((name) => [name, medianOf(name)]));
}

/**
 * Ratio of two targets: median and quartiles of the ratios of the rounds.
 * @param name the compared figure, by default requests a second
 */
export function ratioOf(measurements, reference, name = 'rate') {
  return spreadOf(measurements.map((measurement, i) => measurement[name] / reference[i][name]));
}

/** @returns median and quartiles */
export function spreadOf(values) {
  const [lower, median, upper] = [0.25, 0.5, 0.75].map((part) => quantile(values, part));
  return { median, quartiles: [lower, upper] };
}

/** @returns the quantile, interpolated between two numbers */
export function quantile(numbers, part) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const [below, above] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return below + (above - below) * (position % 1);
}
