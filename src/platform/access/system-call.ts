import { type Call, type OrganizationColumns, tenantOf } from '../data/call.js';
import { SCOPES } from './scopes.js';

/**
 * The call of work without an API key: for an organization, with every scope and without a user.
 * @param row has the trace of what caused the work, if there is one
 * @param caller what the log names in place of a key
 */
export function systemCall(
  row: OrganizationColumns & { readonly traceparent?: string | null },
  caller: { readonly id: string; readonly name: string },
): Call {
  const { id, name } = caller;
  const key = { id, name, expiresAt: null, userId: null };
  return {
    tenant: tenantOf(row),
    actor: { key, scopes: new Set(SCOPES), channel: 'api' },
    traceparent: row.traceparent ?? undefined,
  };
}
