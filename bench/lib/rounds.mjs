/**
 * Measures each case on each server in turn, round after round; the order of the servers rotates.
 * @param measure asked for one server and case at a time
 * @returns by case, then by server, the measurements in the order of their rounds
 */
export async function alternate({ cases, servers, rounds, measure, onRound }) {
  const results = new Map(
    cases.map((one) => [one, new Map(servers.map((server) => [server, []]))]),
  );
  // The first round warms everything up and does not count.
  for (let round = 0; round <= rounds; round++) {
    onRound(round);
    for (const one of cases) {
      const order = servers.map((_, i) => servers[(i + round) % servers.length]);
      for (const server of order) {
        const measurement = await measure(server, one);
        if (round > 0) results.get(one).get(server).push(measurement);
      }
    }
  }
  return results;
}

/** What a server did in one case: medians over the rounds, and its ratio to the reference. */
export function summarize(measurements, reference) {
  const ratios = measurements.map(({ rate }, round) => rate / reference[round].rate);
  const medianOf = (name) => median(measurements.map((one) => one[name]));
  return {
    rate: medianOf('rate'),
    p50: medianOf('p50'),
    p99: medianOf('p99'),
    cpu: measurements[0].cpu === undefined ? undefined : medianOf('cpu'),
    ratio: median(ratios),
    lowestRatio: Math.min(...ratios),
    highestRatio: Math.max(...ratios),
  };
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1] + sorted[Math.floor(middle)]) / 2;
}
