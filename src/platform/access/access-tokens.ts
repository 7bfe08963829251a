import type { Call } from '../data/call.js';

/**
 * Finds the callers that have an access token of OAuth (docs/contract/oauth.md). A module of sign-in
 * provides it; without one, there are no access tokens.
 */
export abstract class AccessTokens {
  /** What the tokens give access to. */
  abstract readonly resource: {
    /** The scopes that a client can be granted, sorted. */
    scopes(): readonly string[];

    /**
     * The URL of the metadata that describes how to get a token.
     * @param url the URL of the request
     */
    metadataUrlOf(url: string): string;
  };

  /**
   * @returns undefined for a token that is unknown, has expired or was issued for another resource
   * @throws ApiError `query_failed`
   */
  abstract find(token: string): Promise<Call | undefined>;
}
