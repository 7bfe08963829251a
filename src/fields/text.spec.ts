import { codePointLength, isWellFormedText } from './text.js';

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
  ])('%j has %d', (text, length) => {
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
  ])('takes %j', (text) => {
    expect(isWellFormedText(text)).toBe(true);
  });

  it.each(['\0', 'a\0b', '\ud83d', 'a\ude00', '\ude00\ud83d', '\ud83dx\ude00', '😀\ud83d'])(
    'refuses %j',
    (text) => {
      expect(isWellFormedText(text)).toBe(false);
    },
  );
});
