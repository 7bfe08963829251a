import { comparedEmail, comparedPhone } from './contact-identity.js';

describe('comparedEmail (decisions 3: compared trimmed and lower-cased)', () => {
  it.each([
    ['ada@example.com', 'ada@example.com'],
    ['Ada.Lovelace@EXAMPLE.com', 'ada.lovelace@example.com'],
    [' \tada@example.com\n', 'ada@example.com'],
    ['ÉLAN@example.com', 'élan@example.com'],
    ['ada+tag@example.com', 'ada+tag@example.com'],
    ['a.d.a@gmail.com', 'a.d.a@gmail.com'],
  ])('%j is compared as %j', (email, compared) => {
    expect(comparedEmail(email)).toBe(compared);
    expect(comparedEmail(compared)).toBe(compared);
  });
});

describe('comparedPhone (decisions 3: E.164 where it can be read, digits otherwise)', () => {
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
  ])('%s in %s is %s', (phone, region, compared) => {
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
  ])('%s, which is no number, is compared by its digits %s', (phone, digits) => {
    expect(comparedPhone(phone, 'US')).toBe(digits);
  });

  it('reads national numbers in the region, so that the same digits differ by region', () => {
    expect(comparedPhone('2079460018', 'US')).not.toBe(comparedPhone('2079460018', 'GB'));
  });

  it('reads international numbers alike in every region', () => {
    const forms = ['US', 'GB', 'DE', 'JP'].map((region) => comparedPhone('+49 30 901820', region));
    expect(new Set(forms)).toEqual(new Set(['+4930901820']));
  });
});
