import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The prefix of every API key (docs/contract/keys-and-scopes.md#api-keys). */
export const KEY_PREFIX = 'lat_';

/** The prefix of the keys of operators (docs/contract/keys-and-scopes.md#operator-keys). */
const OPERATOR_PREFIX = `${KEY_PREFIX}op_`;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const DISPLAYED_CHARACTERS = 4;
const SHAPE = new RegExp(`^${KEY_PREFIX}(op_)?[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * A new key: the prefix, 30 random base62 characters and a checksum
 * (docs/contract/keys-and-scopes.md#api-keys).
 */
export function generateKey(prefix = KEY_PREFIX): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  const body = prefix + random.join('');
  return body + checksum(body);
}

/** A new key of an operator. */
export function generateOperatorKey(): string {
  return generateKey(OPERATOR_PREFIX);
}

/** Whether a key is that of an operator, or would be if it existed. */
export function isOperatorKey(key: string): boolean {
  return key.startsWith(OPERATOR_PREFIX);
}

/** Whether a string has the form and checksum of a key, so that guesses do not reach the database. */
export function isWellFormedKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return text.endsWith(checksum(body));
}

/** The hash of a key or token that is stored. A fast hash is enough, because they have 178 bits of entropy or more. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The part of a key that may be shown again. */
export function displayPrefix(key: string): string {
  const prefix = isOperatorKey(key) ? OPERATOR_PREFIX : KEY_PREFIX;
  return key.slice(0, prefix.length + DISPLAYED_CHARACTERS);
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
