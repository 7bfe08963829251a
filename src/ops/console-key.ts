import type { IssuedKey, KeysService } from '../modules/auth/keys.service.js';
import { SCOPES } from '../platform/access/scopes.js';
import type { Settings } from '../platform/config/settings.js';

/** A person who clicks sends more requests than the default limits allow. */
const READS_PER_MINUTE = 600;
const WRITES_PER_MINUTE = 300;

/** The erasure of a person cannot be undone. */
const WITHHELD = 'leads:erase';

/**
 * Creates a key for the console, which can do all that the page can.
 * @throws ApiError `not_found` for an unknown organization, `create_failed`
 */
export function createConsoleKey(
  keys: KeysService,
  settings: Settings,
  organizationId: string,
  expiresAt: Date | null = null,
): Promise<IssuedKey> {
  return keys.createKey({
    organizationId,
    name: 'console',
    scopes: SCOPES.filter((scope) => scope !== WITHHELD),
    expiresAt,
    readsPerMinute: Math.min(READS_PER_MINUTE, settings.keyMaxReadsPerMinute),
    writesPerMinute: Math.min(WRITES_PER_MINUTE, settings.keyMaxWritesPerMinute),
  });
}

/**
 * The link that signs in to the console. Browsers do not send the fragment of an address.
 * @param url of the server, without a slash at the end
 */
export function consoleLink(url: string, { key }: IssuedKey): string {
  return `${url}/console#key=${key}`;
}
