/** The caller that a token identifies. */
export interface TokenIdentity {
  /** The id of an organization of Latitude. */
  readonly organizationId: string;
  /** Identifies the caller. Each subject has rate limits of its own, and the log names it. */
  readonly subject: string;
  /** The scopes of the caller. Scopes that Latitude does not know are ignored. */
  readonly scopes: readonly string[];
  /** When the token expires. Streams of the caller end then. */
  readonly expiresAt: Date;
  /** What `GET /api/v1/me` shows as the name of the key; by default the subject. */
  readonly name?: string;
  /** A UUID for `created_by_user_id`. */
  readonly userId?: string;
}

/**
 * Authenticates callers by tokens of another issuer, in addition to API keys
 * (docs/guides/replace-and-add.md#tokens-of-an-identity-provider). An accepted token is not
 * authenticated again for a second.
 */
export abstract class TokenAuthenticator {
  /**
   * @param token the bearer token of a request, which does not have the prefix of an API key
   * @returns the caller; undefined if this authenticator does not accept the token
   */
  abstract authenticate(
    token: string,
  ): TokenIdentity | undefined | Promise<TokenIdentity | undefined>;
}
