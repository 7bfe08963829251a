import { declareScopes, SCOPES } from '../../access/scopes.js';
import type { RequestState } from '../request/api-request.js';
import { Public, RawRoute, requiredScopes, RequireScope } from '../routes/access.js';
import { declarationsOf } from '../routes/route-declarations.js';
import { assertMayCall } from './access.guard.js';

beforeAll(() => {
  declareScopes(['leads:read', 'leads:write', 'tasks:read']);
});

/** Returns a request of a key with these scopes to a handler with one decorator. */
function requestTo(declare: MethodDecorator, scopes: readonly string[]) {
  const handler = () => undefined;
  declare({}, 'handler', { value: handler });
  const declared = declarationsOf(handler);
  const plan = { ...declared, scopes: requiredScopes(declared) };
  const call = { actor: { key: {}, scopes: new Set(scopes) } };
  return { plan, call } as unknown as RequestState;
}

const leads = RequireScope('leads:read') as MethodDecorator;
const unknown = RequireScope('widgets:read' as never) as MethodDecorator;

it.each([
  ['a route that requires a scope accepts a key that has it', leads, ['leads:read']],
  ['a public page accepts every caller', Public() as MethodDecorator, []],
  ['a raw route accepts a key without scopes', RawRoute() as MethodDecorator, []],
])('%s', (_, declare, scopes) => {
  const request = requestTo(declare, scopes);
  expect(() => {
    assertMayCall(request);
  }).not.toThrow();
});

it('a route that requires a scope refuses a key that has only other scopes', () => {
  const request = requestTo(leads, ['leads:write', 'tasks:read']);
  expect(() => {
    assertMayCall(request);
  }).toThrow('leads:read');
});

it('a route that requires a scope that does not exist refuses every key', () => {
  const request = requestTo(unknown, SCOPES);
  expect(() => {
    assertMayCall(request);
  }).toThrow('widgets:read');
});
