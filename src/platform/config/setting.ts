import { readFileSync } from 'node:fs';
import { type Duration, millisecondsOf, parseDuration } from './duration.js';

/** An invalid value of a setting. The message is one line that names the setting. */
export class SettingError extends Error {
  constructor(name: string, problem: string, options?: ErrorOptions) {
    super(`${name} ${problem}`, options);
    this.name = 'SettingError';
  }
}

/**
 * Reads the value of an environment variable. An empty variable counts as unset, because compose files
 * and shells often set empty ones.
 * @throws SettingError
 */
export interface Setting<T> {
  (name: string, env: Environment): T;
  /** Whether the variable `NAME_FILE` can name a file with the value. */
  readonly isSecret?: true;
  /** Further variables that it reads. */
  readonly others?: readonly string[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What applies to an unset variable. Without an option, the setting is required. */
type WhenUnset<T> = { readonly default: T } | { readonly optional: true } | object;

/** The value of a setting with these options. */
type Value<T, O> = O extends { readonly optional: true } ? T | undefined : T;

/** Upper bound of integers, such as the rate limits, unless they have another. */
export const MAX_INTEGER = 1_000_000_000;

/** Upper bound of durations, unless they have another: a century. */
const MAX_DURATION = '36500d';

/**
 * Declares a setting of any type.
 * @param parse returns undefined for a value that is not valid
 * @param rule a predicate that follows the name of the setting, such as `must be a URL`
 */
function custom<T, const O extends WhenUnset<T>>(
  parse: (raw: string) => T | undefined,
  rule: string,
  whenUnset: O,
): Setting<Value<T, O>> {
  return (name, env) => {
    const raw = env[name];
    if (raw) {
      const value = parse(raw);
      if (value === undefined) throw new SettingError(name, rule);
      return value;
    }
    if ('default' in whenUnset) return whenUnset.default;
    if ('optional' in whenUnset) return undefined as Value<T, O>;
    throw new SettingError(name, `is not set: it ${rule}`);
  };
}

/** The names of the variables that a setting is read from. */
export function variablesOf(name: string, { isSecret, others = [] }: Setting<unknown>): string[] {
  return isSecret ? [name, fileVariableOf(name), ...others] : [name, ...others];
}

function fileVariableOf(name: string): string {
  return `${name}_FILE`;
}

/**
 * Declares that the value of a setting is a secret. The variable with the suffix `_FILE` can name a file that contains
 * the value, as orchestrators mount secrets.
 */
function secret<T>(read: Setting<T>): Setting<T> {
  const readSecret = (name: string, env: Environment) => {
    const fileVariable = fileVariableOf(name);
    const path = env[fileVariable];
    if (!path) return read(name, env);
    if (env[name]) {
      throw new SettingError(name, `and ${fileVariable} are both set: set only one of them`);
    }
    // The name in the message of an invalid value.
    const label = `${name} in ${path}`;
    return read(label, { ...env, [label]: readValue(fileVariable, path) });
  };
  return Object.assign(readSecret, { isSecret: true as const });
}

/** Reads a file without the line breaks at its end. */
function readValue(fileVariable: string, path: string): string {
  try {
    const value = readFileSync(path, 'utf8').replace(/[\r\n]+$/, '');
    if (value !== '') return value;
  } catch (error) {
    // A message such as "ENOENT: no such file or directory, open 'PATH'".
    const [reason] = (error as Error).message.split(',');
    throw new SettingError(fileVariable, `names ${path}, which cannot be read: ${reason}`);
  }
  throw new SettingError(fileVariable, `names ${path}, which is empty`);
}

/**
 * The kinds of settings. Each takes `{ default }` or `{ optional: true }`, or is required. `secret` takes another setting,
 * such as `setting.secret(setting.text({}))`.
 */
export const setting = {
  custom,
  secret,

  text: <const O extends WhenUnset<string>>(whenUnset: O) =>
    custom((raw) => raw, 'must be a string', whenUnset),

  /** An absolute URL of HTTP or HTTPS. */
  url: <const O extends WhenUnset<string>>(whenUnset: O) =>
    custom(
      (raw) => (/^https?:\/\//.test(raw) && URL.canParse(raw) ? raw : undefined),
      'must be a URL such as https://example.com',
      whenUnset,
    ),

  integer: <const O extends WhenUnset<number>>({
    min = 0,
    max = MAX_INTEGER,
    ...whenUnset
  }: { readonly min?: number; readonly max?: number } & O) =>
    custom(
      (raw) => {
        const value = /^\d{1,10}$/.test(raw) ? Number(raw) : NaN;
        return value >= min && value <= max ? value : undefined;
      },
      `must be an integer from ${min} to ${max}`,
      whenUnset as unknown as O,
    ),

  /** A whole number with `s`, `m`, `h` or `d`, such as `30d`. Its value is in milliseconds. */
  duration: <const O extends WhenUnset<Duration>>({
    min = '1s',
    max = MAX_DURATION,
    ...whenUnset
  }: { readonly min?: Duration; readonly max?: Duration } & O): Setting<Value<number, O>> => {
    const [least, most] = [
      millisecondsOf(min, 'smallest duration'),
      millisecondsOf(max, 'largest duration'),
    ];
    return custom<number, O>(
      (raw) => {
        const ms = parseDuration(raw) ?? NaN;
        return ms >= least && ms <= most ? ms : undefined;
      },
      `must be a duration from ${min} to ${max}, such as ${max}`,
      inMilliseconds(whenUnset) as O,
    );
  },

  /** One of a few words, in any case. */
  oneOf: <const T extends string, const O extends WhenUnset<NoInfer<T>>>(
    words: readonly T[],
    whenUnset: O,
  ) =>
    custom(
      (raw) => words.find((word) => word === raw.toLowerCase()),
      `must be one of ${words.join(', ')}`,
      whenUnset,
    ),

  /** `on` or `off`. */
  flag: <const O extends WhenUnset<boolean>>(whenUnset: O) =>
    custom(
      (raw) => ({ on: true, off: false })[raw.toLowerCase()],
      'must be one of on, off',
      whenUnset,
    ),
};

/** The default of a duration as a number. */
function inMilliseconds(whenUnset: WhenUnset<Duration>): WhenUnset<number> {
  if (!('default' in whenUnset)) return whenUnset;
  return { default: millisecondsOf(whenUnset.default, 'default of a setting') };
}
