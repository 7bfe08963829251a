import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES } from '../../src/app.module.js';
import { ERROR_CATALOGUE } from '../../src/platform/errors/error-catalogue.js';

const ERROR_ROW = /^\| `(\w+)` +\| (\d+)[\d, ]* +\| (yes|no) +\|/gm;
const SCOPE = /`([a-z]+:[a-z]+)`/g;

it('the contract states every error code with its status, and whether it is retryable', () => {
  const rows = [...page('errors.md').matchAll(ERROR_ROW)];
  const stated = rows.map(([, code, status, retryable]) => {
    return [code, Number(status), retryable === 'yes'];
  });
  const actual = Object.entries(ERROR_CATALOGUE).map(([code, { status, retryable }]) => {
    return [code, status, retryable];
  });
  expect(stated.sort()).toEqual(actual.sort());
});

it('the contract states every scope of the core', () => {
  const scopes = FEATURES.flatMap((feature) => feature.scopes);
  const stated = [...page('keys-and-scopes.md').matchAll(SCOPE)].map(([, scope]) => scope);
  expect([...new Set(stated)].sort()).toEqual(scopes.toSorted());
});

function page(name: string): string {
  return readFileSync(join(process.cwd(), 'docs/contract', name), 'utf8');
}
