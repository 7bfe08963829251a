import { statfs } from 'node:fs/promises';
import { readRedisInfo } from '../../../platform/access/limits/redis-connection.js';
import { VERSION } from '../../../platform/config/version.js';
import { type Checks, failed, type Finding, ok, skipped, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';

const PUBLIC_URL_TIMEOUT_MS = 5_000;

/** Free space of the disk of the embedded database, in bytes and as a share. */
const LITTLE_SPACE = { bytes: 2 * 1024 ** 3, share: 0.1 };
const NO_SPACE = { bytes: 256 * 1024 ** 2, share: 0.01 };

const MIB = 1024 ** 2;

/** What is around the process and its database. */
export const SURROUNDINGS_CHECKS: Checks<DatabaseContext> = {
  instances: ({ instances, settings }) => {
    const message = `Instances that are connected to this database: ${instances}.`;
    if (instances < 2 || settings.redisUrl !== undefined) return ok(message);
    return warning(
      `${message} Without REDIS_URL each has rate limits of its own.`,
      'Set REDIS_URL for all instances to the same Redis.',
    );
  },

  redis: async ({ settings: { redisUrl } }) => {
    if (redisUrl === undefined) return skipped('REDIS_URL is not set.');
    const remedy =
      'Start Redis, or correct REDIS_URL. Until then each instance has limits of its own.';
    try {
      const { redis_version: version = '', role } = await readRedisInfo(redisUrl);
      if (role === 'slave') {
        return failed('REDIS_URL leads to a replica, which counts no requests.', 'Use its master.');
      }
      return ok(`Redis ${version} replies.`);
    } catch (error) {
      return failed(`Redis cannot be used: ${(error as Error).message}.`, remedy);
    }
  },

  public_url: ({ settings: { publicUrl }, instances }) => {
    if (publicUrl === undefined) return skipped('PUBLIC_URL is not set.');
    if (instances === 0) return skipped('No instance runs that PUBLIC_URL could lead to.');
    return examinePublicUrl(publicUrl);
  },

  disk: async ({ sql, database, settings: { dataDir } }) => {
    const { size } = await sql.readOne<{ size: string }>(
      'select pg_size_pretty(pg_database_size(current_database())) as size',
    );
    if (!database.embedded) {
      return skipped(
        `The database takes ${size}. SQL does not show how much space its server has left.`,
      );
    }
    const { bavail, blocks, bsize } = await statfs(dataDir);
    const free = { bytes: bavail * bsize, share: bavail / blocks };
    const message = `The database takes ${size}. The disk of DATA_DIR has ${Math.floor(free.bytes / MIB)} MiB left.`;
    const remedy = 'Free space, enlarge the disk, or move DATA_DIR to a larger one.';
    if (isBelow(free, NO_SPACE)) return failed(message, remedy);
    const isLittle = isBelow(free, LITTLE_SPACE) || free.bytes < NO_SPACE.bytes;
    return isLittle ? warning(message, remedy) : ok(message);
  },
};

/** A large disk may have a small share left, and a small one few bytes. */
function isBelow(free: typeof NO_SPACE, limit: typeof NO_SPACE): boolean {
  return free.bytes < limit.bytes && free.share < limit.share;
}

/** Asks `GET /` under the public address, which says the name and version of the service. */
async function examinePublicUrl(publicUrl: string): Promise<Finding> {
  const remedy = 'Correct PUBLIC_URL, or the DNS, certificate and proxy of this address.';
  const fail = (problem: string) => failed(`${publicUrl} ${problem}.`, remedy);
  try {
    const response = await fetch(publicUrl, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(PUBLIC_URL_TIMEOUT_MS),
    });
    if (response.status >= 300 && response.status < 400) {
      return fail(`redirects to ${response.headers.get('location') ?? 'another address'}`);
    }
    if (!response.ok) return fail(`answers with the status ${response.status}`);
    const { name, version, api } = (await response.json().catch(() => ({}))) as StartPage;
    if (name !== 'Latitude') return fail('leads to another service than Latitude');
    if (version !== VERSION) {
      return warning(
        `${publicUrl} leads to Latitude ${version}, and this is ${VERSION}.`,
        'Unless an upgrade is under way, give all instances the same version.',
      );
    }
    if (api !== `${publicUrl}/api/v1`) {
      return warning(
        `Latitude believes that it is reached as ${api}, and not under ${publicUrl}.`,
        'Let the proxy pass Host, X-Forwarded-Proto and X-Forwarded-Host, and set TRUST_PROXY.',
      );
    }
    return ok(`${publicUrl} leads to Latitude ${version}.`);
  } catch (error) {
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
    return fail(`cannot be reached: ${cause?.code ?? cause?.message ?? message}`);
  }
}

/** The fields of `GET /` that are compared. */
interface StartPage {
  readonly name?: string;
  readonly version?: string;
  readonly api?: string;
}
