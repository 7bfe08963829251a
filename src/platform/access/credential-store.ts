import type { Call, Confirmations, OrganizationColumns } from '../data/call.js';

/** A key that is not revoked, with its organization. */
export interface KeyRecord extends OrganizationColumns {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: Date | null;
  readonly user_id: string | null;
  /** The limits of an API key, if they are not those of the settings. */
  readonly reads_per_minute?: number | null;
  readonly writes_per_minute?: number | null;
  /** Of an API key or a grant. */
  readonly confirmations?: Confirmations;
  /** Of a key of an operator, who stands for the organization and has no scopes. */
  readonly operator_id?: string;
}

/** Finds keys and organizations. The module of organizations implements it. */
export abstract class CredentialStore {
  /** @throws ApiError `query_failed` */
  abstract findKeyByHash(hash: Buffer): Promise<KeyRecord | undefined>;

  /** @throws ApiError `query_failed` */
  abstract findOperatorKey(hash: Buffer): Promise<KeyRecord | undefined>;

  /**
   * The scopes of keys and grants by their ids, without those that are revoked or expired.
   * @throws ApiError `query_failed`
   */
  abstract findScopes(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;

  /**
   * An organization, unless it is suspended.
   * @throws ApiError `query_failed`
   */
  abstract findOrganization(id: string): Promise<OrganizationColumns | undefined>;

  /**
   * Those of some organizations that are suspended.
   * @throws ApiError `query_failed`
   */
  abstract findSuspended(ids: readonly string[]): Promise<ReadonlySet<string>>;

  /**
   * Stores the time of the last use of the key of a call and of its grant, at most once a minute for each.
   * @throws ApiError `create_failed`
   */
  abstract updateLastUsed(call: Call): Promise<void>;
}
