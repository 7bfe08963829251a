import type { Environment } from './setting.js';
import { SETTING_NAMES } from './settings.js';

/** Hosts such as Heroku set this variable to the number of processes that an application starts. */
const WORKERS = 'WEB_CONCURRENCY';
const WORKERS_HINT =
  ' A server uses one core. To use several, run several instances behind a load balancer, with REDIS_URL.';

const PREFIXES =
  /^(LATITUDE|DATABASE|RATE_LIMIT|BODY_LIMIT|CORS|MCP|OAUTH|SHUTDOWN_DELAY|TRUST_PROXY|WEBHOOKS)_/;

/** Variables that Kubernetes and Docker set for a service named `latitude` or `database`. */
const SERVICE_LINK =
  /_SERVICE_(HOST|PORT)(_\w+)?$|_PORT_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?$|_ENV_\w+$/;
const SERVICE_ADDRESS = /^(tcp|udp):\/\//;

/** Variables of OpenTelemetry for logs. Their names resemble those for traces, and hosts set them for all processes. */
const OF_LOGS = 'OTEL_BLRP_';

/** The edits up to which names are similar, and the length that a name must have for them. */
const EDITS = [
  [1, 0],
  [2, 8],
  [3, 16],
] as const;

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
  if (name.startsWith(OF_LOGS)) return undefined;
  const similar =
    similarTo(name, names) ??
    names.find((known) => hasWordsOf(name, known) || name === `${known}_FILE`);
  if (similar !== undefined) return ` Did you mean ${similar}?`;
  return PREFIXES.test(name) ? '' : undefined;
}

function similarTo(name: string, names: readonly string[]): string | undefined {
  for (const [edits, length] of EDITS) {
    const similar = names.find(
      (known) => known.length >= length && differsAtMostBy(edits, name, known),
    );
    if (similar !== undefined) return similar;
  }
  return undefined;
}

/** Whether a setting has each word of a name, such as `MCP_SESSION_TTL_SECONDS` those of `MCP_SESSION_TTL`. */
function hasWordsOf(name: string, known: string): boolean {
  const words = wordsOf(name.replace(/^LATITUDE_/, ''));
  const isSpecific = words.length > 1 || name.startsWith('LATITUDE_');
  return isSpecific && words.every((word) => wordsOf(known).includes(word));
}

/** The words in the singular. */
function wordsOf(name: string): string[] {
  return name.split('_').map((word) => word.replace(/S$/, ''));
}

function isServiceLink(name: string, value: string): boolean {
  return SERVICE_LINK.test(name) || SERVICE_ADDRESS.test(value);
}

/** Whether one text becomes the other by adding, leaving out, replacing or swapping letters this often at most. */
function differsAtMostBy(edits: number, a: string, b: string): boolean {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  const [restA, restB] = [a.slice(same), b.slice(same)];
  if (edits === 0 || restA === restB) return restA === restB;
  const [first = '', second] = restA;
  const isSwapped = second !== undefined && restB.startsWith(second + first);
  const skips = [[1, 0], [0, 1], [1, 1], ...(isSwapped ? [[2, 2]] : [])] as const;
  return skips.some(([skipA, skipB]) =>
    differsAtMostBy(edits - 1, restA.slice(skipA), restB.slice(skipB)),
  );
}
