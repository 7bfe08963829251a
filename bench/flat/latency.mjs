import assert from 'node:assert/strict';
import { untilIdle } from '../lib/database.mjs';
import { FIRST_NUMBER, numbered } from '../lib/requests.mjs';
import { alternate, quantile, summarize } from '../lib/rounds.mjs';
import { Connection } from './connection.mjs';
import { assertPage, countRecords, timeScan } from './totals.mjs';

/** Requests of a size before those that count, and those; fewer where they scan. */
const PACE = { before: 2, counted: 9 };
const SLOW_PACE = { before: 0, counted: 2 };

/** Times requests over one connection, one after the other. */
class Latency {
  #client;
  #entrant;
  #connection;
  #number = FIRST_NUMBER;

  constructor(client, entrant) {
    this.#client = client;
    this.#entrant = entrant;
    this.#connection = new Connection(entrant.server.url);
  }

  /** @returns the median of the milliseconds of a few requests, or those of a scan */
  async measure(run, one) {
    if (run.scans) return { p50: await timeScan(this.#client, run.organization, run.scans) };
    if (one.writes) await untilIdle(this.#client);
    const { before, counted } = one.scans ? SLOW_PACE : PACE;
    const times = [];
    for (let i = 0; i < before + counted; i++) times.push(await this.#ask(run, one));
    if (one.writes) await this.#undo(one, times.length);
    return { p50: quantile(times.slice(before), 0.5) };
  }

  async #ask(run, { title }) {
    const ask = run.asks[run.sent++ % run.asks.length];
    const { body, ...request } = this.#entrant.request(ask);
    const numberedBody = numbered(body, ++this.#number);
    const answer = await this.#connection.send({ ...request, body: numberedBody });
    const { status, text, milliseconds } = answer;
    const who = `${title} at ${run.organization.size.toLocaleString('en')}`;
    assert.equal(status, this.#entrant.statusOf(ask), `${who} answers ${status}: ${text}`);
    if (ask.does === 'list') assertPage(text, ask, await this.#totalOf(run, ask), who);
    return milliseconds;
  }

  /** Counted for the first list of a case and size only. */
  async #totalOf(run, ask) {
    if (ask !== run.asks[0]) return undefined;
    run.total ??= await countRecords(this.#client, ask);
    return run.total;
  }

  async #undo({ title, writes }, answered) {
    await untilIdle(this.#client);
    const written = await this.#entrant.table.undo(writes);
    assert.equal(written, answered, `${title}: ${answered} answered, ${written} ${writes}`);
  }

  close() {
    this.#connection.close();
  }
}

/**
 * Times cases by the size of the organization, the sizes in turn, round after round.
 * @param samples of the organizations, the smallest first
 * @returns for each case the measurements and the p50 by size, and measurements of its scan
 */
export async function measureLatency({ cases, samples, client, entrant, rounds, onRound }) {
  const latency = new Latency(client, entrant);
  const measuring = alternate({
    cases: cases.map((one) => withRuns(one, samples)),
    connections: [1],
    ...{ rounds, onRound },
    measure: (run, one) => latency.measure(run, one),
  });
  const results = await measuring.finally(() => latency.close());
  return results.map(({ one, byEntrant }) => {
    const all = [...byEntrant.values()];
    const bySize = all.slice(0, samples.length);
    const p50 = bySize.map((measurements) => summarize(measurements).p50);
    return { one, bySize, p50, scan: all[samples.length] };
  });
}

/** What is measured in turn: the case at each size, and the scan it is compared with, if any. */
function withRuns(one, samples) {
  const { organization: largest } = samples.at(-1);
  const runs = samples.map((sample) => {
    return { organization: sample.organization, asks: one.asks(sample), sent: 0 };
  });
  const scans = one.scans ? [{ organization: largest, scans: one.scans }] : [];
  return { ...one, databaseBound: Boolean(one.scans), entrants: [...runs, ...scans] };
}
