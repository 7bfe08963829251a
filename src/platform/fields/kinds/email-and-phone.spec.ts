import { normalizeEmail, parsePhone, phoneProblem, plainPhone } from './email-and-phone.js';

function comparedPhone(phone: string, region: string): string {
  return parsePhone(phone, region).normalized;
}

describe('normalizeEmail (without invisible characters, trimmed, lower case, NFC, domain by IDNA)', () => {
  it.each([
    ['ada@example.com', 'ada@example.com'],
    ['Ada.Lovelace@EXAMPLE.com', 'ada.lovelace@example.com'],
    [' \tada@example.com\n', 'ada@example.com'],
    ['\u202a\u00a0ada@example.com\u202c\u200b', 'ada@example.com'],
    ['a\u00add\u034f\u200ba@exa\u2060mple.com', 'ada@example.com'],
    ['ÉLAN@example.com', 'élan@example.com'],
    ['ada+tag@example.com', 'ada+tag@example.com'],
    ['a.d.a@gmail.com', 'a.d.a@gmail.com'],
    ['e\u0301lan@example.com', 'élan@example.com'],
    ['info@BÜCHER.example', 'info@xn--bcher-kva.example'],
    ['info@xn--bcher-kva.example', 'info@xn--bcher-kva.example'],
    ['info@bu\u0308cher.example', 'info@xn--bcher-kva.example'],
  ])('converts %j to %j', (email, compared) => {
    expect(normalizeEmail(email)).toBe(compared);
    expect(normalizeEmail(compared)).toBe(compared);
  });
});

describe('the normalized form of a phone (E.164 with the extension if it is valid, otherwise its digits)', () => {
  it.each([
    ['+14155552671', 'US', '+14155552671'],
    ['+1 (415) 555-2671', 'US', '+14155552671'],
    ['+1.415.555.2671', 'DE', '+14155552671'],
    ['(415) 555-2671', 'US', '+14155552671'],
    ['4155552671', 'US', '+14155552671'],
    ['1-415-555-2671', 'US', '+14155552671'],
    ['011 44 20 7946 0018', 'US', '+442079460018'],
    ['020 7946 0018', 'GB', '+442079460018'],
    ['+44 (0)20 7946 0018', 'GB', '+442079460018'],
    ['030/901820', 'DE', '+4930901820'],
    ['0049 30 901820', 'DE', '+4930901820'],
    ['06 12 34 56 78', 'FR', '+33612345678'],
    ['(415) 555-2671 x12', 'US', '+14155552671x12'],
    ['(415) 555-2671 ext. 12', 'US', '+14155552671x12'],
    ['+14155552671;ext=12', 'US', '+14155552671x12'],
    ['415-555-2671 EXT12', 'US', '+14155552671x12'],
    ['+1 415 555 2671;12', 'US', '+14155552671x12'],
    ['+1 415 555 2671,,12', 'US', '+14155552671x12'],
    ['415-555-2671 #12', 'US', '+14155552671x12'],
    ['030/901820 x7', 'DE', '+4930901820x7'],
    ['0049 30 901820', 'US', '+4930901820'],
    ['00 44 20 7946 0018', 'US', '+442079460018'],
    ['(00)49 30 901820 ext 3', 'US', '+4930901820x3'],
    ['\u00a0415\u2007555\u202f2671\u3000', 'US', '+14155552671'],
    ['415\u2800555\u28002671', 'US', '+14155552671'],
    ['415\t555\n2671', 'US', '+14155552671'],
    ['415‐555‑2671', 'US', '+14155552671'],
    ['415–555—2671', 'US', '+14155552671'],
    ['+1−415−555−2671', 'DE', '+14155552671'],
    ['+1·415•555‧2671', 'DE', '+14155552671'],
    ['\u202a+1 \u2068(415)\u2069 555\u00ad-\u200b2671\u202c', 'DE', '+14155552671'],
    ['＋１（４１５）５５５－２６７１', 'DE', '+14155552671'],
    ['４１５．５５５／２６７１　ｘ１２', 'US', '+14155552671x12'],
    ['+٤٩ ٣٠ ٩٠١٨٢٠', 'US', '+4930901820'],
    ['۰۳۰ ۹۰۱۸۲۰', 'DE', '+4930901820'],
    ['०३० ९०१८२०', 'DE', '+4930901820'],
    ['𝟎𝟑𝟎 𝟗𝟎𝟏𝟖𝟐𝟎', 'DE', '+4930901820'],
    ['०३० ९०१८२० x७', 'DE', '+4930901820x7'],
    ['tel:+1-415-555-2671', 'DE', '+14155552671'],
    ['TEL: 415-555-2671', 'US', '+14155552671'],
    ["'+14155552671", 'DE', '+14155552671'],
    ['☎\ufe0f Tel.: 030/901820', 'DE', '+4930901820'],
    ['📞 +1 415 555 2671', 'DE', '+14155552671'],
    ['Tel. 030/901820', 'DE', '+4930901820'],
    ['tel:+1-415-555-2671;ext=12', 'DE', '+14155552671x12'],
    ['415-555-2671 extension 12', 'US', '+14155552671x12'],
    ['415-555-2671, Extension: 12', 'US', '+14155552671x12'],
    ['415-555-2671 (ext. 12)', 'US', '+14155552671x12'],
    ['415-555-2671 extn. 12', 'US', '+14155552671x12'],
    ['415 555 2671; ext #12', 'US', '+14155552671x12'],
    ['415-555-2671 ext=12', 'US', '+14155552671x12'],
    ['91 123 45 67 extensión 12', 'ES', '+34911234567x12'],
    ['8 (495) 123-45-67 доб. 123', 'RU', '+74951234567x123'],
  ])('converts %s in %s to %s', (phone, region, compared) => {
    expect(comparedPhone(phone, region)).toBe(compared);
    expect(comparedPhone(compared, region)).toBe(compared);
  });

  it.each([
    ['123', '123'],
    ['1-2.3', '123'],
    ['x#(12)/3', '123'],
    ['+12', '12'],
    ['0'.repeat(50), '0'.repeat(50)],
    ['9'.repeat(50), '9'.repeat(50)],
    ['+999 123', '999123'],
    ['١٢٣', '123'],
    ['tel:１２３', '123'],
  ])('converts %s, which is not a valid number, to the digits %s', (phone, digits) => {
    expect(comparedPhone(phone, 'US')).toBe(digits);
  });

  it('interprets national numbers by region', () => {
    expect(comparedPhone('2079460018', 'US')).not.toBe(comparedPhone('2079460018', 'GB'));
  });

  it('interprets international numbers independently of the region', () => {
    const forms = ['US', 'GB', 'DE', 'JP'].map((region) => comparedPhone('+49 30 901820', region));
    expect(new Set(forms)).toEqual(new Set(['+4930901820']));
  });
});

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
