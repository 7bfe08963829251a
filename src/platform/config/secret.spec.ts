import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setting, SettingError } from './setting.js';
import { namesOf, readSettings, SETTING_NAMES } from './settings.js';
import { findUnknownSettings } from './unknown-settings.js';

const SECRET = 'hunter2';

/** The settings that are secrets or contain one, each with a valid value. */
const SECRETS = [
  ['DATABASE_URL', 'databaseUrl', `postgres://user:${SECRET}@host/db`],
  ['DATABASE_REPLICA_URLS', 'databaseReplicaUrls', `postgres://user:${SECRET}@host/db`],
  ['REDIS_URL', 'redisUrl', `redis://:${SECRET}@host`],
] as const;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'latitude-secret-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fileWith(text: string): string {
  const file = path.join(folder, 'secret');
  writeFileSync(file, text);
  return file;
}

/** The message with which the settings are refused. */
function problemOf(env: Record<string, string>): string {
  try {
    readSettings(env);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingError);
    return (error as Error).message;
  }
  throw new Error('the settings are accepted');
}

describe.each(SECRETS)('%s_FILE', (name, property, value) => {
  const variable = `${name}_FILE`;
  const expected = readSettings({ [name]: value })[property];

  it.each(['', '\n', '\r\n', '\n\n'])('names a file with the value, before %j', (end) => {
    const env = { [variable]: fileWith(value + end) };
    expect(readSettings(env)[property]).toEqual(expected);
    expect(readSettings({ ...env, [name]: '' })[property]).toEqual(expected);
  });

  it('is ignored if it is empty', () => {
    expect(readSettings({ [variable]: '', [name]: value })[property]).toEqual(expected);
  });

  it.each(['', '\n'])('cannot name an empty file: %j', (text) => {
    const file = fileWith(text);
    expect(problemOf({ [variable]: file })).toBe(`${variable} names ${file}, which is empty`);
  });

  it('cannot name a file that does not exist, or a folder', () => {
    expect(problemOf({ [variable]: '/nowhere/a' })).toBe(
      `${variable} names /nowhere/a, which cannot be read: ENOENT: no such file or directory`,
    );
    expect(problemOf({ [variable]: folder })).toBe(
      `${variable} names ${folder}, which cannot be read: EISDIR: illegal operation on a directory`,
    );
  });

  it('excludes the setting itself', () => {
    const env = { [variable]: fileWith(value), [name]: value };
    expect(problemOf(env)).toBe(`${name} and ${variable} are both set: set only one of them`);
  });

  it('is named with its file, but without the content, if the value is invalid', () => {
    const file = fileWith(`mysql://user:${SECRET}@host/db`);
    const problem = problemOf({ [variable]: file });
    expect(problem).toMatch(new RegExp(`^${name} in ${file} must be [^\\n]+$`));
    expect(problem).not.toContain(SECRET);
  });

  it('is a setting that the start knows', () => {
    expect(findUnknownSettings([], { [variable]: '/a' })).toEqual([]);
    expect(findUnknownSettings([], { [`${variable}S`]: '/a' })).toEqual([
      expect.stringContaining(`Did you mean ${variable}?`),
    ]);
  });
});

it('Latitude has no other secrets', () => {
  expect(SETTING_NAMES.filter((name) => name.endsWith('_FILE'))).toEqual(
    [
      ...SECRETS.map(([name]) => name),
      // Not settings of their own, but parts of `tracing`.
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    ].map((name) => `${name}_FILE`),
  );
});

it('a setting that is no secret is not read from a file', () => {
  expect(findUnknownSettings([], { PUBLIC_URL_FILE: '/a' })).toEqual([
    expect.stringContaining('Did you mean PUBLIC_URL?'),
  ]);
});

it('an extension can declare secrets of any kind', () => {
  const declared = {
    SMS_TOKEN: setting.secret(setting.text({})),
    SMS_LIMIT: setting.secret(setting.integer({ default: 5, max: 9 })),
    SMS_NAME: setting.text({ optional: true }),
  };
  expect(namesOf(declared)).toEqual([
    'SMS_TOKEN',
    'SMS_TOKEN_FILE',
    'SMS_LIMIT',
    'SMS_LIMIT_FILE',
    'SMS_NAME',
  ]);
  const { ofExtensions } = readSettings({ SMS_TOKEN_FILE: fileWith(` ${SECRET}\n`) }, declared);
  expect(ofExtensions).toEqual({ SMS_TOKEN: ` ${SECRET}`, SMS_LIMIT: 5, SMS_NAME: undefined });
  expect(() => readSettings({ SMS_TOKEN: 'a', SMS_LIMIT: '10' }, declared)).toThrow(
    'SMS_LIMIT must be an integer from 0 to 9',
  );
  expect(() => readSettings({}, declared)).toThrow('SMS_TOKEN is not set: it must be a string');
});
