/** `skipped`: the check does not apply here, or could not be carried out. */
export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

/** What a check has found. */
export interface Finding {
  readonly status: Status;
  readonly message: string;
  /** What to do. */
  readonly remedy?: string;
}

/** A finding with the name of its check. */
export interface CheckResult extends Finding {
  readonly name: string;
}

/** Checks by their names, in the order in which they run. */
export type Checks<Context> = Readonly<
  Record<string, (context: Context) => Finding | Promise<Finding>>
>;

/** How many problems of one check a message names. */
const MAX_NAMED = 10;

/** From the least to the most severe. */
const SEVERITIES: readonly Status[] = ['skipped', 'ok', 'warning', 'failed'];

export function ok(message: string): Finding {
  return { status: 'ok', message };
}

export function skipped(message: string): Finding {
  return { status: 'skipped', message };
}

export function warning(message: string, remedy: string): Finding {
  return { status: 'warning', message, remedy };
}

export function failed(message: string, remedy: string): Finding {
  return { status: 'failed', message, remedy };
}

/**
 * One finding of several problems: it is as severe as the worst, and names each with its remedy.
 * @param whenNone the finding without problems
 */
export function together(problems: readonly Finding[], whenNone: Finding): Finding {
  if (problems.length === 0) return whenNone;
  const ordered = problems.toSorted((one, other) => severityOf(other) - severityOf(one));
  const named = ordered.slice(0, MAX_NAMED);
  const others = ordered.length - named.length;
  const messages = named.map(({ message }) => message);
  const remedies = new Set(named.flatMap(({ remedy }) => remedy ?? []));
  return {
    status: ordered[0]?.status ?? 'ok',
    message: [...messages, ...(others > 0 ? [`And ${others} more.`] : [])].join(' '),
    remedy: [...remedies].join(' '),
  };
}

/** Names of which only the first are written. */
export function listed(names: readonly string[]): string {
  const others = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}

/** An error message as a sentence. */
export function sentence(message: string): string {
  return message.endsWith('.') ? message : `${message}.`;
}

function severityOf({ status }: Finding): number {
  return SEVERITIES.indexOf(status);
}
