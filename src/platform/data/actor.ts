import type { OrganizationColumns, Tenant } from './gateway/tenant.js';

/** The rate limits of a key, in requests per minute. */
export interface KeyLimits {
  readonly reads: number;
  readonly writes: number;
}

/** The authenticated caller. It is the first argument of every service method. */
export interface Actor {
  readonly organization: Tenant & {
    readonly name: string;
    /** Region of phone numbers without a country code, ISO 3166-1 alpha-2. */
    readonly phoneRegion: string;
  };
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly expiresAt: Date | null;
    /** The user that the key was created for, if any. */
    readonly userId: string | null;
    /** The subject of a token of another issuer. The caller has no API key, and `id` is derived from it. */
    readonly subject?: string;
  };
  readonly scopes: ReadonlySet<string>;
  /** The rate limits of the key, if they are not those of the settings. */
  readonly limits?: KeyLimits;
  /** `api` for REST, `ai` for /mcp. */
  readonly channel: 'api' | 'ai';
}

export function organizationOf(row: OrganizationColumns): Actor['organization'] {
  return { id: row.organization_id, name: row.organization_name, phoneRegion: row.phone_region };
}
