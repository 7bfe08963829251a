import { InvalidArgumentError } from 'commander';
import { declareScopes, SCOPES } from '../access/scopes.js';
import { duration, integer, scopes, uuid } from './command-options.js';

describe('command-line options', () => {
  beforeAll(() => {
    declareScopes(['leads:read', 'tasks:read', 'vaults:write'], ['vaults:write']);
  });

  it.each([
    ['1s', 1_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
    ['36500d', 36_500 * 86_400_000],
  ])('parses the duration %s as %d ms', (text, ms) => {
    expect(duration(text)).toBe(ms);
  });

  it.each(['', '30', 'd', '0d', '-1d', '1.5h', '1w', '1 d', '1D'])(
    'rejects the duration %j',
    (text) => {
      expect(() => duration(text)).toThrow(InvalidArgumentError);
    },
  );

  it.each(['36501d', '999999999d', '9999999999999s', `${'9'.repeat(400)}h`])(
    'rejects the duration %j and names the longest one',
    (text) => {
      expect(() => duration(text)).toThrow('It must be at most 36500d.');
    },
  );

  const upToAMillion = integer({ min: 1, max: 1_000_000 });
  it.each([
    ['1', 1],
    ['1000', 1_000],
    ['1000000', 1_000_000],
  ])('parses the number of leads %s', (text, value) => {
    expect(upToAMillion(text)).toBe(value);
  });

  it.each(['', '0', '-1', '1e3', '1.5', '1,000', '1000001', 'many'])(
    'rejects the number of leads %j',
    (text) => {
      expect(() => upToAMillion(text)).toThrow('a whole number from 1 to 1000000');
    },
  );

  it('parses a list of scopes without duplicates, or all that need not be named', () => {
    expect(scopes('all')).toEqual(expect.arrayContaining(['leads:read', 'tasks:read']));
    expect(SCOPES).toContain('vaults:write');
    expect(scopes('all')).not.toContain('vaults:write');
    expect(scopes('leads:read,tasks:read,leads:read')).toEqual(['leads:read', 'tasks:read']);
    expect(scopes('vaults:write')).toEqual(['vaults:write']);
    for (const text of ['', 'leads', 'leads:read,', 'all,leads:read']) {
      expect(() => scopes(text)).toThrow(InvalidArgumentError);
    }
  });

  it('converts a UUID to lower case', () => {
    const id = '01A1FBDD-52C3-7B18-9A4F-2D1C7E6B5A43';
    expect(uuid(id)).toBe(id.toLowerCase());
    expect(() => uuid(id.replaceAll('-', ''))).toThrow(InvalidArgumentError);
  });
});
