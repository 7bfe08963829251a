import type { Environment } from './setting.js';
import { SETTING_NAMES } from './settings.js';

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
      const upper = name.toUpperCase();
      const similar = names.find((known) => areSimilar(upper, known));
      if (similar === undefined && !PREFIXES.test(upper)) return [];
      const hint = similar === undefined ? '' : ` Did you mean ${similar}?`;
      return [`${name} is set, but Latitude has no such setting and ignores it.${hint}`];
    })
    .sort();
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
