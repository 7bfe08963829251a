import { displayPrefix, generateKey, hashKey, isWellFormedKey } from './api-key-format.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A key of the first release, which must stay valid. */
const ISSUED_KEY = 'lat_0123456789ABCDEFGHIJabcdefghij0P0ZpW';

describe('a new key', () => {
  const keys = Array.from({ length: 500 }, generateKey);

  it('consists of lat_, 30 base62 characters and a checksum of 6 characters', () => {
    for (const key of keys) expect(key).toMatch(/^lat_[0-9A-Za-z]{30}[0-9A-Za-z]{6}$/);
  });

  it('ends with the CRC-32 of the preceding characters in base62', () => {
    for (const key of keys) expect(fromBase62(key.slice(-6))).toBe(crc32(key.slice(0, -6)));
  });

  it('has random characters at all 30 positions', () => {
    expect(new Set(keys).size).toBe(keys.length);
    for (let place = 4; place < 34; place++) {
      const seen = new Set(keys.map((key) => key[place]));
      // A position lacks a given character in 1 of 3,400 runs. It practically never lacks six of them.
      expect(seen.size).toBeGreaterThan(BASE62.length - 6);
    }
  });

  it('is accepted by isWellFormedKey', () => {
    for (const key of keys) expect(isWellFormedKey(key)).toBe(true);
  });
});

describe('isWellFormedKey', () => {
  const key = generateKey();

  it('accepts a key of the first release', () => {
    expect(isWellFormedKey(ISSUED_KEY)).toBe(true);
  });

  it('rejects a key with one changed character', () => {
    for (let place = 0; place < key.length; place++) {
      for (const character of BASE62) {
        const other = key.slice(0, place) + character + key.slice(place + 1);
        if (other !== key) expect(isWellFormedKey(other)).toBe(false);
      }
    }
  });

  it('rejects a key with two adjacent characters swapped', () => {
    for (let place = 0; place + 1 < key.length; place++) {
      const [left = '', right = ''] = key.slice(place, place + 2);
      const other = key.slice(0, place) + right + left + key.slice(place + 2);
      if (left !== right) expect(isWellFormedKey(other)).toBe(false);
    }
  });

  it.each([
    ['an empty string', ''],
    ['the prefix alone', 'lat_'],
    ['a key without its last character', key.slice(0, -1)],
    ['a key without its first character', key.slice(1)],
    ['a key with an additional character', `${key}0`],
    ['a key after a space', ` ${key}`],
    ['a key before a line feed', `${key}\n`],
    ['a key before a NUL', `${key}\0`],
    ['a repeated key', key + key],
    ['a key with an upper-case prefix', key.replace('lat_', 'LAT_')],
    ['a key with another prefix', key.replace('lat_', 'sk__')],
    ['a key with a letter that is not ASCII', key.replace(/.$/, 'é')],
    ['a key with a full-width letter', key.replace(/.$/, 'Ａ')],
    ['10,000 characters', `lat_${'a'.repeat(10_000)}`],
  ])('rejects %s', (_, text) => {
    expect(isWellFormedKey(text)).toBe(false);
  });

  it('rejects another prefix with a matching checksum', () => {
    const body = `sk__${key.slice(4, 34)}`;
    expect(isWellFormedKey(body + toBase62(crc32(body)))).toBe(false);
  });
});

describe('the stored form of a key', () => {
  it('contains the SHA-256 hash of the key', () => {
    expect(hashKey('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('contains the first 8 characters of the key', () => {
    expect(displayPrefix('lat_abcdefgh')).toBe('lat_abcd');
  });
});

/** A separate, slow implementation of CRC-32 (IEEE 802.3). */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function fromBase62(digits: string): number {
  return [...digits].reduce((value, digit) => value * 62 + BASE62.indexOf(digit), 0);
}

function toBase62(value: number): string {
  const digits = Array.from({ length: 6 }, (_, i) => BASE62[Math.floor(value / 62 ** i) % 62]);
  return digits.reverse().join('');
}
