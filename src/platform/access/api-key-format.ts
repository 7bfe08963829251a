import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The prefix of every API key (docs/contract/keys-and-scopes.md#api-keys). */
export const KEY_PREFIX = 'lat_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const DISPLAYED_LENGTH = 8;
const SHAPE = new RegExp(`^${KEY_PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * A new key: the prefix, 30 random base62 characters and a checksum
 * (docs/contract/keys-and-scopes.md#api-keys).
 */
export function generateKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  const body = KEY_PREFIX + random.join('');
  return body + checksum(body);
}

/** Whether a string has the form and checksum of a key, so that guesses do not reach the database. */
export function isWellFormedKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.endsWith(checksum(body));
}

/** The hash of a key that is stored. A fast hash is enough, because a key has 178 bits of entropy. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The part of a key that may be shown again. */
export function displayPrefix(key: string): string {
  return key.slice(0, DISPLAYED_LENGTH);
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = (ALPHABET[rest % ALPHABET.length] ?? '') + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
