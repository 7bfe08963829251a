import { relative, resolve } from 'node:path';
import satisfies from 'semver/functions/satisfies.js';
import { readSettings, type Settings } from '../../../platform/config/settings.js';
import { findUnknownSettings } from '../../../platform/config/unknown-settings.js';
import { NODE_VERSIONS, VERSION } from '../../../platform/config/version.js';
import { type Checks, failed, ok, together, warning } from '../check.js';
import type { SettingsContext } from '../context.js';
import { ENDS_OF_NODE, hasEnded } from '../ends-of-life.js';

/** Checks of the settings, the variables and Node.js. */
export const SETTINGS_CHECKS: Checks<SettingsContext> = {
  settings: ({ settings }) => {
    const problems = CONTRADICTIONS.filter(({ applies }) => applies(settings));
    const findings = problems.map(({ isRefused, message, remedy }) =>
      (isRefused ? failed : warning)(message, remedy),
    );
    return together(findings, ok('All settings are valid, and none contradicts another.'));
  },

  unknown_settings: ({ extensions }) => {
    const declared = extensions.flatMap((extension) => Object.keys(extension.settings));
    const problems = findUnknownSettings(declared);
    return together(
      problems.map((problem) => warning(problem, 'Correct or remove these variables.')),
      ok('No variable looks like a misspelled setting.'),
    );
  },

  node: () => {
    const { node } = process.versions;
    const end = ENDS_OF_NODE[node.split('.')[0] ?? ''];
    const message = `Latitude ${VERSION} runs on Node.js ${node}`;
    if (!satisfies(node, NODE_VERSIONS)) {
      const remedy = `Install a version of Node.js that is supported: ${NODE_VERSIONS}.`;
      return failed(`${message}, which it does not support.`, remedy);
    }
    if (hasEnded(end, new Date())) {
      const remedy = 'Install a later major version (docs/operating/ends-of-life.md).';
      return warning(`${message}, which gets no fixes since ${end}.`, remedy);
    }
    return ok(`${message}.`);
  },
};

interface Contradiction {
  readonly applies: (settings: Settings) => boolean;
  /** Whether a server refuses to start with them. */
  readonly isRefused?: true;
  readonly message: string;
  readonly remedy: string;
}

/** Settings that are valid, and that together do not do what they seem to do. */
const CONTRADICTIONS: readonly Contradiction[] = [
  {
    applies: ({ databaseUrl, backupDir }) => databaseUrl !== undefined && backupDir !== undefined,
    isRefused: true,
    message:
      'BACKUP_DIR is for the embedded PostgreSQL, but DATABASE_URL is set: no server starts.',
    remedy: 'Remove BACKUP_DIR, and back that database up by latitude backup or pg_dump.',
  },
  {
    applies: ({ databaseUrl, dataDir, backupDir }) =>
      databaseUrl === undefined && backupDir !== undefined && isInside(dataDir, backupDir),
    message: 'BACKUP_DIR is in DATA_DIR, so that the backups are lost with the database.',
    remedy: 'Set BACKUP_DIR to a directory on another disk.',
  },
  {
    applies: ({ databaseUrl, dataDir }) =>
      databaseUrl !== undefined && dataDir !== readSettings({}).dataDir,
    message: 'DATA_DIR has no effect, because DATABASE_URL is set.',
    remedy: 'Remove DATA_DIR, or DATABASE_URL to use the embedded PostgreSQL.',
  },
  {
    applies: ({ databaseUrl, databaseReplicaUrls }) =>
      databaseUrl !== undefined && databaseReplicaUrls.includes(databaseUrl),
    message: 'DATABASE_REPLICA_URLS has the primary of DATABASE_URL, which is no replica.',
    remedy: 'Remove that URL from DATABASE_REPLICA_URLS.',
  },
  {
    applies: ({ publicUrl = '', trustProxy }) => publicUrl.startsWith('https:') && !trustProxy,
    message:
      'PUBLIC_URL is https, so a proxy is in front, but TRUST_PROXY is off: limits by address count all clients as one.',
    remedy: 'Set TRUST_PROXY to the addresses of the proxy.',
  },
  {
    applies: ({ readsPerMinute, keyMaxReadsPerMinute }) => readsPerMinute > keyMaxReadsPerMinute,
    message:
      'RATE_LIMIT_READS_PER_MINUTE is more than KEY_MAX_READS_PER_MINUTE, the most that a key can get.',
    remedy: 'Raise KEY_MAX_READS_PER_MINUTE.',
  },
  {
    applies: ({ writesPerMinute, keyMaxWritesPerMinute }) =>
      writesPerMinute > keyMaxWritesPerMinute,
    message:
      'RATE_LIMIT_WRITES_PER_MINUTE is more than KEY_MAX_WRITES_PER_MINUTE, the most that a key can get.',
    remedy: 'Raise KEY_MAX_WRITES_PER_MINUTE.',
  },
  {
    applies: ({ mcpMaxSessionsPerKey = 0, mcpMaxSessions }) =>
      mcpMaxSessionsPerKey > mcpMaxSessions,
    message: 'MCP_MAX_SESSIONS_PER_KEY has no effect, because MCP_MAX_SESSIONS is less.',
    remedy: 'Raise MCP_MAX_SESSIONS, or lower MCP_MAX_SESSIONS_PER_KEY.',
  },
  {
    applies: ({ corsOrigins }) => corsOrigins.includes('*') && corsOrigins.length > 1,
    message: 'CORS_ORIGINS has *, which allows every origin, and others.',
    remedy: 'Remove * or the other origins from CORS_ORIGINS.',
  },
  {
    applies: (settings) => settings.webhooksAllowPrivateTargets && isPublic(settings),
    message:
      'WEBHOOKS_ALLOW_PRIVATE_TARGETS is on, which lets callers send requests into your network.',
    remedy: 'Remove WEBHOOKS_ALLOW_PRIVATE_TARGETS, which is for development.',
  },
  {
    applies: (settings) => settings.logErrors === 'full' && isPublic(settings),
    message: 'LOG_ERRORS is full, so that the log can contain data of callers.',
    remedy: 'Remove LOG_ERRORS, whose value full is for development.',
  },
];

function isInside(directory: string, path: string): boolean {
  return !/^\.\.(\/|$)/.test(relative(resolve(directory), resolve(path)));
}

/** Whether others than the developer are served. */
function isPublic({ publicUrl = '' }: Settings): boolean {
  return publicUrl.startsWith('https:');
}
