/** Connections of the warm-up round. */
const WARM_UP_CONNECTIONS = 32;

/**
 * Measures each case with each of its targets and numbers of connections in turn, round after round. The
 * order of the targets rotates.
 * @param measure measures one target, case and number of connections
 * @param onRound receives the number of each round at its start, 0 for the warm-up
 * @param onTargetFailure receives a target and the error of its measurement; if it resolves to true, the
 *   target is left out, and the measurement of the others continues
 * @param onFailure receives another error after the first round and the number of complete rounds, which are
 *   returned; without it, the error is thrown
 * @returns for each case and number of connections, the measurements of each target by round
 */
export async function alternate({ cases, rounds, measure, onRound, onTargetFailure, onFailure }) {
  const results = cases.flatMap((benchCase) =>
    benchCase.connections.map((connections) => ({
      ...{ benchCase, connections },
      byTarget: new Map(benchCase.targets.map((target) => [target, []])),
    })),
  );
  const tryTarget = async (target, benchCase, connections) => {
    try {
      return await measure(target, benchCase, connections);
    } catch (error) {
      if (!(await onTargetFailure?.(target, error))) throw error;
      for (const { byTarget } of results) byTarget.delete(target);
    }
  };
  onRound(0);
  await warmUp(results, tryTarget);
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    try {
      for (const result of results) await measureRound(result, round, tryTarget);
    } catch (error) {
      if (round === 1 || !onFailure) throw error;
      onFailure(error, round - 1);
      return results.map((result) => withRounds(result, round - 1));
    }
  }
  return results;
}

async function warmUp(results, measure) {
  const warm = new Set();
  for (const { benchCase, byTarget } of results) {
    if (benchCase.skipsWarmUp || warm.has(benchCase)) continue;
    warm.add(benchCase);
    for (const target of byTarget.keys()) await measure(target, benchCase, WARM_UP_CONNECTIONS);
  }
}

async function measureRound({ benchCase, connections, byTarget }, round, measure) {
  const targets = [...byTarget.keys()];
  const order = targets.map((_, i) => targets[(i + round) % targets.length]);
  for (const target of order) {
    const measured = await measure(target, benchCase, connections);
    byTarget.get(target)?.push(measured);
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
