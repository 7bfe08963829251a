import type { Actor } from '../../platform/data/actor.js';
import type { KeyInfoDto } from './me.dto.js';

/** The public data about the key of a caller, for REST and /mcp. */
export function describeKey({ organization, key, scopes }: Actor): KeyInfoDto {
  return {
    organization: { id: organization.id, name: organization.name },
    key: { id: key.id, name: key.name },
    scopes: [...scopes],
    expires_at: key.expiresAt,
  };
}
