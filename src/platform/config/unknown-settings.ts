import type { Environment } from './setting.js';
import { SETTING_NAMES } from './settings.js';

/** Hosts such as Heroku set this variable to the number of processes that an application starts. */
const WORKERS = 'WEB_CONCURRENCY';
const WORKERS_HINT =
  ' A server uses one core. To use several, run several instances behind a load balancer, with REDIS_URL.';

const PREFIXES = /^(LATITUDE|DATABASE|RATE_LIMIT|BODY_LIMIT|CORS|MCP|TRUST_PROXY)_/;

/** Variables that Kubernetes and Docker set for a service named `latitude` or `database`. */
const SERVICE_LINK =
  /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?$|_ENV_\w+$/;
const SERVICE_ADDRESS = /^(tcp|udp):\/\//;

/** Names of at least this length are similar up to an edit distance of 2, shorter ones of 1. */
const LONG_NAME = 8;

/**
 * Returns a warning for each variable that looks like a setting but is not one.
 * @param declared names of the settings of extensions
 */
export function findUnknownSettings(
  declared: readonly string[],
  env: Environment = process.env,
): string[] {
  const names = [...SETTING_NAMES, ...declared];
  return Object.entries(env)
    .filter(([name, value]) => value && !names.includes(name) && !isServiceLink(name, value))
    .flatMap(([name]) => {
      const hint = hintFor(name.toUpperCase(), names);
      if (hint === undefined) return [];
      return [`${name} is set, but Latitude has no such setting and ignores it.${hint}`];
    })
    .sort();
}

/** Returns what to set instead, if that is known; undefined if the variable looks like that of another product. */
function hintFor(name: string, names: readonly string[]): string | undefined {
  if (name === WORKERS) return WORKERS_HINT;
  const similar = names.find((known) => areSimilar(name, known));
  if (similar !== undefined) return ` Did you mean ${similar}?`;
  return PREFIXES.test(name) ? '' : undefined;
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || SERVICE_ADDRESS.test(value);
}

function areSimilar(name: string, known: string): boolean {
  const most = known.length < LONG_NAME ? 1 : 2;
  return Math.abs(name.length - known.length) <= most && editDistance(name, known) <= most;
}

/** The Damerau–Levenshtein distance (optimal string alignment) of two names. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + cost,
          isSwapped ? at(i - 2, j - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(a.length, b.length);
}
