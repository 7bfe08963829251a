import { Decimal } from './decimal.js';
import { readInput } from '../input/read-input.js';

class PriceDto {
  @Decimal({ precision: 12, scale: 2 }) price?: string | null;
  @Decimal({ precision: 6, scale: 3, min: 0, max: 100 }) percent?: string | null;
  @Decimal({ precision: 38, scale: 18 }) exact?: string | null;
}

type Name = keyof PriceDto;

describe('@Decimal()', () => {
  it.each<[Name, unknown, string | null]>([
    ['price', '12.5', '12.50'],
    ['price', 12.5, '12.50'],
    ['price', 0.1, '0.10'],
    ['price', 0, '0.00'],
    ['price', -0, '0.00'],
    ['price', '-0.00', '0.00'],
    ['price', '-3', '-3.00'],
    ['price', ' 007.100 ', '7.10'],
    ['price', '9999999999.99', '9999999999.99'],
    ['price', 1_234_567_890.12, '1234567890.12'],
    ['percent', 100, '100.000'],
    ['percent', '0.001', '0.001'],
    ['exact', '12345678901234567890.123456789012345678', '12345678901234567890.123456789012345678'],
  ])('reads %s %j as %j', (name, given, expected) => {
    const { value, problems } = readInput(PriceDto, { [name]: given });
    expect(problems).toEqual([]);
    expect(value).toEqual({ [name]: expected });
  });

  it.each<[unknown]>([[null], [''], [' ']])('reads %j as no value', (price) => {
    expect(readInput(PriceDto, { price })).toEqual({ value: {}, problems: [] });
  });

  it.each<[Name, unknown]>([
    ['price', '1.234'],
    ['price', 1.234],
    ['price', '10000000000'],
    ['price', 1e10],
    ['price', 1e21],
    ['price', 1e-7],
    ['price', '1e3'],
    ['price', '1,5'],
    ['price', '.5'],
    ['price', '5.'],
    ['price', '0'.repeat(101)],
    ['price', 'NaN'],
    ['price', Number.NaN],
    ['price', Infinity],
    ['price', '+1'],
    ['price', '0x10'],
    ['price', '--1'],
    ['price', true],
    ['price', {}],
    ['price', ['1']],
    ['percent', '-0.001'],
    ['percent', '100.001'],
    ['exact', 1234567890123456.8],
  ])('refuses %s %j', (name, given) => {
    const { problems } = readInput(PriceDto, { [name]: given });
    expect(problems).toEqual([{ field: name, message: expect.any(String) }]);
  });

  it('names the bounds in the message', () => {
    const { problems } = readInput(PriceDto, { percent: 101, exact: 1234567890123456.8 });
    expect(problems.map(({ message }) => message)).toEqual([
      'must be a decimal number of at least 0 and at most 100 with at most 3 digits before and 3 after the point; write more than 15 digits as a string',
      'must be a decimal number with at most 20 digits before and 18 after the point; write more than 15 digits as a string',
    ]);
  });

  it('refuses a declaration without integer or decimal digits', () => {
    expect(() => Decimal({ precision: 2, scale: 2 })).toThrow('a precision greater than the scale');
    expect(() => Decimal({ precision: 2, scale: 0 })).toThrow('a scale of at least 1');
  });
});
