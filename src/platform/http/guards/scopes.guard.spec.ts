import type { ExecutionContext } from '@nestjs/common';
import { Public, RawRoute, requiredScopes, RequireScope } from '../routes/access.js';
import { declarationsOf } from '../routes/route-declarations.js';
import { ScopesGuard } from './scopes.guard.js';
import { declareScopes, SCOPES } from '../../access/scopes.js';

const guard = new ScopesGuard();

beforeAll(() => {
  declareScopes(['leads:read', 'leads:write', 'tasks:read']);
});

/** Sends a request with these scopes to a handler with one decorator. */
function admits(declare: MethodDecorator, scopes: readonly string[]): boolean {
  const handler = () => undefined;
  declare({}, 'handler', { value: handler });
  const declared = declarationsOf(handler);
  const plan = { ...declared, scopes: requiredScopes(declared) };
  const call = { actor: { key: {}, scopes: new Set(scopes) } };
  return guard.canActivate({
    getArgByIndex: () => ({ state: { call, plan } }),
  } as unknown as ExecutionContext);
}

const unknown = RequireScope('widgets:read' as never) as MethodDecorator;

describe('a route that requires a scope', () => {
  it('accepts a key that has the scope', () => {
    expect(admits(RequireScope('leads:read') as MethodDecorator, ['leads:read'])).toBe(true);
  });

  it('rejects a key that has only other scopes', () => {
    const others = ['leads:write', 'tasks:read'];
    expect(() => admits(RequireScope('leads:read') as MethodDecorator, others)).toThrow(
      'leads:read',
    );
  });

  it('refuses every key of the service if the required scope does not exist', () => {
    expect(() => admits(unknown, SCOPES)).toThrow('widgets:read');
  });
});

describe('a route that requires no scope', () => {
  it.each([Public, RawRoute])('accepts a key without scopes', (declare) => {
    expect(admits(declare() as MethodDecorator, [])).toBe(true);
  });
});
