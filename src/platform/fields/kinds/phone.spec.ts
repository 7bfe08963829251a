import { phoneProblem, plainPhone } from './phone.js';

describe('plainPhone', () => {
  it.each([
    ['\u202a+1\u00a0(415) 555\u20112671\u202c', '+1 (415) 555-2671'],
    ['＋１．４１５／５５５－２６７１', '+1.415/555-2671'],
    ["'٤١٥٫٥٥٥", '415٫555'],
    ['tel:415 555 2671 (Extension: 12)', '415 555 2671 ( ext 12)'],
    ['ext 123', 'ext 123'],
    ['int 123', 'int 123'],
    ['telephone 123', 'telephone 123'],
  ])('writes %j as %j', (text, plain) => {
    expect(plainPhone(text)).toBe(plain);
  });

  it('is fast for long strings', () => {
    for (const part of [' ', '1', 'x', 'ext', 'ext 1', ',;', '(', '\u200b', '１', 'é', '\ufe62']) {
      expect(phoneProblem(part.repeat(200_000))).not.toBe('');
    }
  });
});
