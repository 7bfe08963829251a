import { foldCase } from './search-text.js';

describe('foldCase', () => {
  it.each([
    ['ada', 'ADA'],
    ['Γιώργος', 'ΓΙΏΡΓΟΣ'],
    ['Γιώργος', 'γιώργοσ'],
    ['ΐ', 'Ϊ́'],
    ['Straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['İstanbul', 'istanbul'],
    ['İstanbul'.toLowerCase(), 'ISTANBUL'],
    ['ılık', 'ILIK'],
    ['Жук', 'жУК'],
    ['élan', 'E\u0301LAN'],
    ['Ångström', 'A\u030angstro\u0308m'],
    ['ﬁn', 'FIN'],
    ['ſo', 'SO'],
    ['\u{10400}', '\u{10428}'],
  ])('folds %j and %j to the same form', (one, other) => {
    expect(foldCase(one)).toBe(foldCase(other));
  });

  it.each([
    ['elan', 'élan'],
    ['o', 'ø'],
    ['日', '曰'],
  ])('folds %j and %j to different forms', (one, other) => {
    expect(foldCase(one)).not.toBe(foldCase(other));
  });

  it('is idempotent and independent of case for every character', () => {
    const wrong: string[] = [];
    for (let code = 0x80; code < 0x2_0000; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue;
      const character = String.fromCodePoint(code);
      const folded = foldCase(character);
      const isStable = foldCase(folded) === folded;
      const isAlike = [character.toUpperCase(), character.toLowerCase()].every(
        (variant) => foldCase(variant) === folded,
      );
      if (!isStable || !isAlike) wrong.push(code.toString(16));
    }
    expect(wrong).toEqual([]);
  });
});
