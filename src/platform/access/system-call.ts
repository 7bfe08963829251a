import { type Call, type OrganizationColumns, tenantOf } from '../data/call.js';
import { SCOPES } from './scopes.js';

/**
 * The call of work without an API key: for an organization, with every scope and without a user.
 * @param caller what the log names in place of a key
 */
export function systemCall(
  row: OrganizationColumns,
  caller: { readonly id: string; readonly name: string },
): Call {
  const { id, name } = caller;
  const key = { id, name, expiresAt: null, userId: null };
  return { tenant: tenantOf(row), actor: { key, scopes: new Set(SCOPES), channel: 'api' } };
}
