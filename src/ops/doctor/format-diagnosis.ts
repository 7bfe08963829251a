import type { CheckResult, Status } from './check.js';
import type { Report } from './diagnosis.js';
import type { PlannedMigration } from './upgrade/plan-upgrade.js';

const GAP = '  ';

/** The words of the last line, by status. */
const COUNTED: Readonly<Record<Status, string>> = {
  ok: 'ok',
  warning: 'with a warning',
  failed: 'failed',
  skipped: 'skipped',
};

/** One line for each check, its remedy in the next line, the migrations of an upgrade, and a line that counts the checks. */
export function formatDiagnosis({ checks, upgrade }: Report): string {
  const parts = [
    formatChecks(checks),
    ...(upgrade && upgrade.migrations.length > 0 ? [formatMigrations(upgrade.migrations)] : []),
    [`${checks.length} checks: ${countsOf(checks)}.`],
  ];
  return `${parts.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function formatChecks(checks: readonly CheckResult[]): string[] {
  const status = widthOf(checks.map((check) => check.status));
  const name = widthOf(checks.map((check) => check.name));
  const indentation = ' '.repeat(status + name + 2 * GAP.length);
  return checks.flatMap((check) => [
    [check.status.padEnd(status), check.name.padEnd(name), check.message].join(GAP),
    ...(check.remedy ? [`${indentation}To do: ${check.remedy}`] : []),
  ]);
}

function formatMigrations(migrations: readonly PlannedMigration[]): string[] {
  const name = widthOf(migrations.map((migration) => migration.name));
  return migrations.map(({ name: each, does, estimated_seconds, rows }) => {
    const time = estimated_seconds === null ? 'not known' : `about ${estimated_seconds} s`;
    const tables = Object.entries(rows).map(([table, count]) => `${count} rows of ${table}`);
    const what = [does ?? 'a migration of an extension', ...tables].join(', ');
    return [each.padEnd(name), time.padEnd(12), what].join(GAP);
  });
}

function countsOf(checks: readonly CheckResult[]): string {
  const counts = Object.entries(COUNTED).flatMap(([status, words]) => {
    const { length } = checks.filter((check) => check.status === status);
    return length === 0 ? [] : [`${length} ${words}`];
  });
  return counts.join(', ');
}

function widthOf(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length));
}
