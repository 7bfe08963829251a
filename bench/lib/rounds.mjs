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
  const medianOf = (name) =>
    quantile(
      measurements.map((one) => one[name]),
      0.5,
    );
  return {
    rate: medianOf('rate'),
    p50: medianOf('p50'),
    p99: medianOf('p99'),
    cpu: measurements[0].cpu === undefined ? undefined : medianOf('cpu'),
    ratio: quantile(ratios, 0.5),
    quartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
}

/** The value below which this part of the numbers lies, between two of them where it must. */
function quantile(numbers, part) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * part;
  const [below, above] = [sorted[Math.floor(position)], sorted[Math.ceil(position)]];
  return below + (above - below) * (position % 1);
}
