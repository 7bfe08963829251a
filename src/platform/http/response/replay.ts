import type { StoredResponse } from './idempotency.repository.js';
import type { Call } from '../../data/call.js';
import { insufficientScope, type Scope } from '../../access/scopes.js';

/**
 * A stored response for the caller of a repeated request. Fields that it may not read are left out
 * (docs/contract/idempotency-and-versions.md#scopes-of-a-replay).
 * @throws ApiError `insufficient_scope` that names the first scope that the caller lacks
 */
export function replayFor({ actor }: Call, { scopes, ...response }: StoredResponse) {
  if (!scopes) return response;
  const missing = scopes.needed.find((scope) => !actor.scopes.has(scope));
  if (missing !== undefined) throw insufficientScope(missing as Scope);
  const isHidden = (name: string) => !actor.scopes.has(scopes.fields[name] ?? '');
  const hidden = Object.keys(scopes.fields).filter(isHidden);
  if (hidden.length === 0) return response;
  const visible: unknown = JSON.parse(response.text, (name, value: unknown) =>
    hidden.includes(name) ? undefined : value,
  );
  return { ...response, text: JSON.stringify(visible) };
}
