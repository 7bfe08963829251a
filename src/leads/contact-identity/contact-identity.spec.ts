import { normalizeEmail, parsePhone } from './contact-identity.js';

function comparedPhone(phone: string, region: string): string {
  return parsePhone(phone, region).normalized;
}

describe('normalizeEmail (trimmed, lower case, NFC, domain by IDNA)', () => {
  it.each([
    ['ada@example.com', 'ada@example.com'],
    ['Ada.Lovelace@EXAMPLE.com', 'ada.lovelace@example.com'],
    [' \tada@example.com\n', 'ada@example.com'],
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
