import { displayPrefix, generateKey, hashKey, isWellFormedKey } from './api-key-format.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Issued by the first release: what it made must stay valid for ever. */
const ISSUED_KEY = 'lat_0123456789ABCDEFGHIJabcdefghij0P0ZpW';

describe('a new key', () => {
  const keys = Array.from({ length: 500 }, generateKey);

  it('is lat_, 30 base62 characters and a checksum of 6', () => {
    for (const key of keys) expect(key).toMatch(/^lat_[0-9A-Za-z]{30}[0-9A-Za-z]{6}$/);
  });

  it('ends with the CRC-32 of all before it in base62', () => {
    for (const key of keys) expect(fromBase62(key.slice(-6))).toBe(crc32(key.slice(0, -6)));
  });

  it('is random in each of its 30 places', () => {
    expect(new Set(keys).size).toBe(keys.length);
    for (let place = 4; place < 34; place++) {
      const seen = new Set(keys.map((key) => key[place]));
      // A character is missing after 500 draws once in 3,400 times; six of them never.
      expect(seen.size).toBeGreaterThan(BASE62.length - 6);
    }
  });

  it('is well formed', () => {
    for (const key of keys) expect(isWellFormedKey(key)).toBe(true);
  });
});

describe('a well-formed key', () => {
  const key = generateKey();

  it('stays the same from release to release', () => {
    expect(isWellFormedKey(ISSUED_KEY)).toBe(true);
  });

  it('differs from any other in more than one character', () => {
    for (let place = 0; place < key.length; place++) {
      for (const character of BASE62) {
        const other = key.slice(0, place) + character + key.slice(place + 1);
        if (other !== key) expect(isWellFormedKey(other)).toBe(false);
      }
    }
  });

  it('does not survive two neighbours changing places', () => {
    for (let place = 0; place + 1 < key.length; place++) {
      const [left = '', right = ''] = key.slice(place, place + 2);
      const other = key.slice(0, place) + right + left + key.slice(place + 2);
      if (left !== right) expect(isWellFormedKey(other)).toBe(false);
    }
  });

  it.each([
    ['nothing', ''],
    ['the prefix alone', 'lat_'],
    ['a character less at the end', key.slice(0, -1)],
    ['a character less at the front', key.slice(1)],
    ['a character more', `${key}0`],
    ['a space before', ` ${key}`],
    ['a line end after', `${key}\n`],
    ['a NUL after', `${key}\0`],
    ['the key twice', key + key],
    ['the prefix in upper case', key.replace('lat_', 'LAT_')],
    ['another prefix', key.replace('lat_', 'sk__')],
    ['letters beyond ASCII', key.replace(/.$/, 'é')],
    ['a full-width letter', key.replace(/.$/, 'Ａ')],
    ['10,000 characters', `lat_${'a'.repeat(10_000)}`],
  ])('is not %s', (_, text) => {
    expect(isWellFormedKey(text)).toBe(false);
  });

  it('needs the checksum of its own prefix', () => {
    const body = `sk__${key.slice(4, 34)}`;
    expect(isWellFormedKey(body + toBase62(crc32(body)))).toBe(false);
  });
});

describe('what is stored of a key', () => {
  it('is its SHA-256', () => {
    expect(hashKey('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('and its first 8 characters', () => {
    expect(displayPrefix('lat_abcdefgh')).toBe('lat_abcd');
  });
});

/** CRC-32 (IEEE 802.3) bit by bit: slow, short, and not the one that the product uses. */
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
