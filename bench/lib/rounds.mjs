/** Connections of the round that warms everything up. */
const WARM_UP_CONNECTIONS = 32;

/**
 * Measures each case with each entrant in turn, round after round; their order rotates.
 * @param measure asked for one entrant, case and number of connections at a time
 * @returns by case and connections, then by entrant, the measurements in the order of their rounds
 */
export async function alternate({ cases, connections, rounds, measure, onRound }) {
  const results = cases.flatMap((one) =>
    connections.map((count) => ({
      ...{ one, connections: count },
      byEntrant: new Map(one.entrants.map((entrant) => [entrant, []])),
    })),
  );
  onRound(0);
  for (const one of cases.filter(({ databaseBound }) => !databaseBound)) {
    for (const entrant of one.entrants) await measure(entrant, one, WARM_UP_CONNECTIONS);
  }
  for (let round = 1; round <= rounds; round++) {
    onRound(round);
    for (const { one, connections: count, byEntrant } of results) {
      const order = one.entrants.map((_, i, all) => all[(i + round) % all.length]);
      for (const entrant of order) {
        byEntrant.get(entrant).push(await measure(entrant, one, count));
      }
    }
  }
  return results;
}

/** What an entrant did: medians over the rounds. */
export function summarize(measurements) {
  const medianOf = (name) => {
    const values = measurements.map((one) => one[name]);
    return values.includes(undefined) ? undefined : quantile(values, 0.5);
  };
  const names = ['rate', 'p50', 'p99', 'serverCpu', 'databaseCpu'];
  return Object.fromEntries(names.map((name) => [name, medianOf(name)]));
}

/**
 * How many times what the reference measured; median and quartiles of the rounds' ratios.
 * @param name of what is compared: requests a second, unless said otherwise
 */
export function ratioOf(measurements, reference, name = 'rate') {
  const ratios = measurements.map((one, round) => one[name] / reference[round][name]);
  return {
    median: quantile(ratios, 0.5),
    quartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
}

/** The value below which this part of the numbers lies, between two of them where it must. */
export function quantile(numbers, part) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const [below, above] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return below + (above - below) * (position % 1);
}
