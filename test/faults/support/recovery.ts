import { setTimeout as after } from 'node:timers/promises';
import { Load } from './load.js';
import type { FaultEnvironment } from './environment.js';

/** Maximum duration of a request in milliseconds. */
const MAX_REQUEST_MS = 5_000;

/** Duration of a long fault: longer than every timeout of the server, in milliseconds. */
export const LONG_MS = 3_000;

/**
 * Maximum time in milliseconds until everything works again after the database does, in addition to the time that
 * one request of each kind takes without a fault.
 */
const MAX_RECOVERY_MS = 1_000;

/** How long requests continue after a fault. */
const OBSERVATION_MS = 2 * MAX_RECOVERY_MS;

/** Minimum duration of a request that had to wait for a fault. */
const NOTICEABLE_MS = 1_000;

/** Error codes that are allowed during a fault. The client may retry all of them. */
export const RETRYABLE_CODES = [
  'query_failed',
  'create_failed',
  'overloaded',
  'idempotency_key_in_use',
];

const ROUNDS = Number(process.env.FAULTS_ROUNDS);

/** Causes a fault of the database, and returns when the fault is over. */
export type Fault = (environment: FaultEnvironment, load: Load) => Promise<void>;

/**
 * Causes a fault under load in each round, and checks the guarantees of docs/reliability.md.
 * @param expectImpact whether some requests must fail or wait, which shows that the fault had an effect
 */
export async function expectRecovery(
  environment: FaultEnvironment,
  name: string,
  fault: Fault,
  { expectImpact = true } = {},
): Promise<void> {
  const figures = new FaultStatistics(name);
  for (let round = 0; round < ROUNDS; round++) {
    const load = await Load.start(environment.url, environment.key);
    let faultEndedAt: number;
    try {
      await fault(environment, load);
      faultEndedAt = performance.now();
      await after(OBSERVATION_MS);
    } finally {
      await load.stop();
    }
    figures.add(load, faultEndedAt);
    expect(environment.server.hasEnded).toBe(false);
    await load.writeLog.expectConsistent(load.api);
  }
  figures.print();
  figures.expectWithinLimits(expectImpact);
}

/** Measurements of all rounds of a fault. */
class FaultStatistics {
  private readonly refusals = new Map<string, number>();
  private requests = 0;
  private worst = 0;
  private recovery = 0;
  private delay = 0;

  constructor(private readonly name: string) {}

  add(load: Load, faultEndedAt: number): void {
    this.requests += load.samples.length;
    this.recovery = Math.max(this.recovery, load.recoveryTime(faultEndedAt));
    this.delay = Math.max(this.delay, load.delayAfter(faultEndedAt));
    for (const { sentAt, endedAt, refusal } of load.samples) {
      this.worst = Math.max(this.worst, endedAt - sentAt);
      if (!refusal) continue;
      const code = refusal.retryable ? refusal.code : `${refusal.code} (final)`;
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    }
  }

  print(): void {
    const refusals = [...this.refusals].map(([code, count]) => `${count} ${code}`);
    const figures = [
      `${this.requests} requests`,
      refusals.join(', ') || 'none failed',
      `longest ${Math.round(this.worst)} ms`,
      `recovered after ${Math.round(this.recovery)} ms`,
    ];
    process.stdout.write(`${this.name}: ${figures.join('; ')}\n`);
  }

  expectWithinLimits(expectImpact: boolean): void {
    expect([...this.refusals.keys()].filter((code) => !RETRYABLE_CODES.includes(code))).toEqual([]);
    if (expectImpact) expect(this.refusals.size > 0 || this.worst > NOTICEABLE_MS).toBe(true);
    expect(this.worst).toBeLessThan(MAX_REQUEST_MS);
    expect(this.delay).toBeLessThan(MAX_RECOVERY_MS);
  }
}
