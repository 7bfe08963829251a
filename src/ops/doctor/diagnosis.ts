import { sqlStateOf } from '../../platform/data/connection/driver-error.js';
import { messageOf } from '../embedded-postgres/errors.js';
import type { CheckResult, Checks, Finding } from './check.js';
import type { UpgradePlan } from './upgrade/plan-upgrade.js';

/** SQLSTATEs of a table or column that is missing, and of one that the user may not read. */
const MISSING: readonly unknown[] = ['42P01', '42703', '42501'];

/** How scripts see the outcome. */
export const EXIT_CODES = { ok: 0, failed: 1, notRun: 2 } as const;

/** What `--json` prints. */
export interface Report {
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
  readonly upgrade?: UpgradePlan;
}

/** The results of all checks. */
export class Diagnosis {
  readonly checks: CheckResult[] = [];
  /** What this version does with the database when it starts, if that was asked for. */
  upgrade: UpgradePlan | undefined;
  private couldRun = true;

  /** Whether nothing has failed. Warnings do not count. */
  get ok(): boolean {
    return this.couldRun && !this.has('failed');
  }

  /** What `--json` prints. */
  get report(): Report {
    const { ok, checks, upgrade } = this;
    return { ok, checks, ...(upgrade && { upgrade }) };
  }

  /** @param isStrict whether a warning counts as a failure */
  exitCode(isStrict: boolean): number {
    if (!this.couldRun) return EXIT_CODES.notRun;
    const isRefused = !this.ok || (isStrict && this.has('warning'));
    return isRefused ? EXIT_CODES.failed : EXIT_CODES.ok;
  }

  /** Runs checks one after another. One that cannot be carried out does not stop the others. */
  async run<Context>(checks: Checks<Context>, context: Context): Promise<void> {
    for (const [name, check] of Object.entries(checks)) {
      try {
        this.add(name, await check(context));
      } catch (error) {
        this.add(name, notCarriedOut(error));
      }
    }
  }

  /** Records that checks were left out. */
  skip(checks: Checks<never>, message: string): void {
    for (const name of Object.keys(checks)) this.add(name, { status: 'skipped', message });
  }

  add(name: string, finding: Finding): void {
    this.checks.push({ name, ...finding });
  }

  /** Records a finding without which the other checks cannot run. */
  giveUp(name: string, finding: Finding): void {
    this.add(name, finding);
    this.couldRun = false;
  }

  private has(status: Finding['status']): boolean {
    return this.checks.some((check) => check.status === status);
  }
}

/** A check of a table that is missing or hidden has nothing to say: other checks report the reason. */
function notCarriedOut(error: unknown): Finding {
  const message = `It could not be carried out: ${messageOf(error)}.`;
  if (MISSING.includes(sqlStateOf(error))) return { status: 'skipped', message };
  return { status: 'warning', message, remedy: 'Run it again.' };
}
