/** SQL condition of a key that is neither revoked nor expired. `key` is the alias of `api_keys`. */
export const HAS_NOT_ENDED =
  'key.revoked_at is null and (key.expires_at is null or key.expires_at > now())';

/** SQL condition of a key that is accepted: it has not ended, and its organization is not suspended. */
export const IS_VALID_KEY = `${HAS_NOT_ENDED} and not exists (
    select from organizations where organizations.id = key.organization_id and organizations.suspended)`;

/** SQL condition of a grant that is neither revoked nor expired. `grants` is the alias of `oauth_grants`. */
export const IS_VALID_GRANT = 'grants.revoked_at is null and grants.expires_at > now()';

/** SQL of the scopes of a grant that its key still has. */
export const SCOPES_OF_GRANT =
  'array(select unnest(grants.scopes) intersect select unnest(key.scopes) order by 1)';

/** SQL of the limits that a key has of its own. `key` is the alias of `api_keys`. */
export const KEY_LIMITS = 'key.reads_per_minute, key.writes_per_minute';
