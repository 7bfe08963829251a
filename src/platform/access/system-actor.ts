import type { OrganizationColumns } from '../data/gateway/tenant.js';
import { organizationOf, type Actor } from '../data/actor.js';
import { SCOPES } from './scopes.js';

/**
 * The actor of work without an API key: an organization, with every scope and without a user.
 * @param caller what the log names in place of a key
 */
export function systemActor(
  row: OrganizationColumns,
  caller: { readonly id: string; readonly name: string },
): Actor {
  const { id, name } = caller;
  return {
    organization: organizationOf(row),
    key: { id, name, expiresAt: null, userId: null },
    scopes: new Set(SCOPES),
    channel: 'api',
  };
}
