import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { RawRoute, Public, RequireScope } from './access.js';
import { ScopesGuard } from './scopes.guard.js';

const guard = new ScopesGuard(new Reflector());

/** A request with these scopes to a handler that one decorator declares. */
function admits(declare: MethodDecorator, scopes: readonly string[]): boolean {
  const handler = () => undefined;
  declare({}, 'handler', { value: handler });
  const actor = { scopes: new Set(scopes) };
  return guard.canActivate({
    getHandler: () => handler,
    switchToHttp: () => ({ getRequest: () => ({ state: { actor } }) }),
  } as unknown as ExecutionContext);
}

const unknown = RequireScope('widgets:read' as never) as MethodDecorator;

describe('a route that requires a scope', () => {
  it('answers a key that has the scope', () => {
    expect(admits(RequireScope('leads:read') as MethodDecorator, ['leads:read'])).toBe(true);
  });

  it('refuses a key that has only others', () => {
    const others = ['leads:write', 'tasks:read'];
    expect(() => admits(RequireScope('leads:read') as MethodDecorator, others)).toThrow(
      'leads:read',
    );
  });

  it.each([[['leads:read']], [['widgets:read']]])(
    'that does not exist refuses a key with the scopes %j',
    (scopes) => {
      expect(() => admits(unknown, scopes)).toThrow('widgets:read');
    },
  );
});

describe('a route that requires no scope', () => {
  it.each([Public, RawRoute])('answers a key without scopes', (declare) => {
    expect(admits(declare() as MethodDecorator, [])).toBe(true);
  });
});
