import type { CheckResult, Status } from './check.js';

const GAP = '  ';

/** The words of the last line, by status. */
const COUNTED: Readonly<Record<Status, string>> = {
  ok: 'ok',
  warning: 'with a warning',
  failed: 'failed',
  skipped: 'skipped',
};

/** One line for each check, with its remedy in the next line, and a last line that counts them. */
export function formatDiagnosis(checks: readonly CheckResult[]): string {
  const status = widthOf(checks.map((check) => check.status));
  const name = widthOf(checks.map((check) => check.name));
  const indentation = ' '.repeat(status + name + 2 * GAP.length);
  const lines = checks.flatMap((check) => [
    [check.status.padEnd(status), check.name.padEnd(name), check.message].join(GAP),
    ...(check.remedy ? [`${indentation}To do: ${check.remedy}`] : []),
  ]);
  const counts = Object.entries(COUNTED).flatMap(([each, words]) => {
    const { length } = checks.filter((check) => check.status === each);
    return length === 0 ? [] : [`${length} ${words}`];
  });
  return `${[...lines, '', `${checks.length} checks: ${counts.join(', ')}.`].join('\n')}\n`;
}

function widthOf(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length));
}
