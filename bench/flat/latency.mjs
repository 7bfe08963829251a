import assert from 'node:assert/strict';
import { waitUntilIdle } from '../lib/database.mjs';
import { numberedRequest } from '../lib/requests.mjs';
import { alternate, quantile, summarize } from '../lib/rounds.mjs';
import { Connection } from './connection.mjs';
import { assertPage, countRecords, timeScan } from './totals.mjs';

/** Warm-up and counted requests for each size; fewer if they scan. */
const REQUESTS_PER_SIZE = { warmUp: 2, counted: 9 };
const SCAN_REQUESTS = { warmUp: 0, counted: 2 };

/** Times sequential requests over one connection. */
class Latency {
  #client;
  #target;
  #connection;

  constructor(client, target) {
    this.#client = client;
    this.#target = target;
    this.#connection = new Connection(target.server.url);
  }

  /** @returns the median of a few requests, or the time of a scan, in milliseconds */
  async measure(run, benchCase) {
    if (run.scans) return { p50: await timeScan(this.#client, run.organization, run.scans) };
    if (benchCase.writes) await waitUntilIdle(this.#client);
    const { warmUp, counted } = benchCase.scans ? SCAN_REQUESTS : REQUESTS_PER_SIZE;
    const times = [];
    for (let i = 0; i < warmUp + counted; i++) times.push(await this.#send(run, benchCase));
    if (benchCase.writes) await this.#restore(benchCase, times.length);
    return { p50: quantile(times.slice(warmUp), 0.5) };
  }

  async #send(run, { title }) {
    const operation = run.operations[run.sent++ % run.operations.length];
    const request = numberedRequest(this.#target.request(operation));
    const answer = await this.#connection.send(request);
    const { status, text, milliseconds } = answer;
    const who = `${title} at ${run.organization.size.toLocaleString('en')}`;
    assert.equal(status, this.#target.statusOf(operation), `${who} answers ${status}: ${text}`);
    if (operation.type === 'list')
      assertPage(text, operation, await this.#totalOf(run, operation), who);
    return milliseconds;
  }

  /** Counts only for the first list of a case and size. */
  async #totalOf(run, operation) {
    if (operation !== run.operations[0] || 'after' in operation) return undefined;
    run.total ??= await countRecords(this.#client, operation);
    return run.total;
  }

  async #restore({ title, writes }, answered) {
    await waitUntilIdle(this.#client);
    const written = await this.#target.table.restore(writes);
    // Requests that were abandoned under load can have written more.
    assert.ok(written >= answered, `${title}: ${answered} answered, ${written} ${writes}`);
  }

  close() {
    this.#connection.close();
  }
}

/**
 * Times all cases for each size of organization, the sizes in turn, round after round.
 */
export async function measureLatency({ cases, samples, client, target, rounds, onRound }) {
  const latency = new Latency(client, target);
  const measuring = alternate({
    cases: cases.map((benchCase) => withRuns(benchCase, samples)),
    ...{ rounds, onRound },
    measure: (run, benchCase) => latency.measure(run, benchCase),
  });
  const results = await measuring.finally(() => latency.close());
  return results.map(({ benchCase, byTarget }) => {
    const all = [...byTarget.values()];
    const bySize = all.slice(0, samples.length);
    const p50 = bySize.map((measurements) => summarize(measurements).p50);
    return { benchCase, bySize, p50, scan: all[samples.length] };
  });
}

/** Adds the targets of a case: one for each size, and the scan that it is compared with, if any. */
function withRuns(benchCase, samples) {
  const { organization: largest } = samples.at(-1);
  const runs = samples.map((sample) => {
    return { organization: sample.organization, operations: benchCase.operations(sample), sent: 0 };
  });
  const scans = benchCase.scans ? [{ organization: largest, scans: benchCase.scans }] : [];
  const skipsWarmUp = Boolean(benchCase.scans);
  return { ...benchCase, skipsWarmUp, connections: [1], targets: [...runs, ...scans] };
}
