import { codePointLength, isWellFormedText, trimText } from './text.js';

describe('codePointLength', () => {
  it.each([
    ['', 0],
    ['plain ASCII', 11],
    ['Zoë', 3],
    ['日本語', 3],
    ['😀', 1],
    ['😀'.repeat(100), 100],
    ['a😀b😀c', 5],
    ['e\u0301', 2],
    ['👨‍👩‍👧', 5],
    ['\u{10ffff}', 1],
    ['\ud83d', 1],
    ['\ude00\ud83d', 2],
    ['\ud83d\ud83d\ude00', 2],
    ['a'.repeat(100_000), 100_000],
  ])('returns the length of %j: %d', (text, length) => {
    expect(codePointLength(text)).toBe(length);
    expect(codePointLength(text)).toBe(Array.from(text).length);
  });
});

describe('isWellFormedText', () => {
  it.each([
    '',
    'plain',
    'Zoë',
    '😀',
    '\u0001\n\t\u007f',
    '\u202e\u200b\ufeff',
    '\uffff',
    '%00',
    '\\u0000',
  ])('accepts %j', (text) => {
    expect(isWellFormedText(text)).toBe(true);
  });

  it.each(['\0', 'a\0b', '\ud83d', 'a\ude00', '\ude00\ud83d', '\ud83dx\ude00', '😀\ud83d'])(
    'rejects %j',
    (text) => {
      expect(isWellFormedText(text)).toBe(false);
    },
  );
});

describe('trimText', () => {
  it.each([
    ['plain', 'plain'],
    [' \t\r\n\u0085a b\u00a0\u2028\u3000', 'a b'],
    ['\u200b\u2060 \ufeffa\u200bb\ufeff\u200b \u0085', 'a\u200bb'],
    ['Zoë', 'Zoë'],
    ['❤\ufe0f', '❤\ufe0f'],
    ['\u200fשלום\u200e', '\u200fשלום\u200e'],
    ['क्\u200d', 'क्\u200d'],
    ['\u0001', '\u0001'],
    ['\u{1f600}', '\u{1f600}'],
  ])('trims %j to %j', (text, trimmed) => {
    expect(trimText(text)).toBe(trimmed);
  });

  it.each([
    '',
    ' ',
    '\u0085',
    '\u200b',
    '\u200d',
    '\u00ad \u2066\u2069',
    '\ufe0f',
    '\u3164',
    '\u2060\ufeff',
  ])('trims the invisible %j to an empty string', (text) => {
    expect(trimText(text)).toBe('');
  });

  it('is fast for long texts', () => {
    const blanks = '\u0085'.repeat(200_000);
    expect(trimText(`${blanks}a${blanks}b${blanks}`)).toHaveLength(200_002);
    expect(trimText(blanks)).toBe('');
  });
});
