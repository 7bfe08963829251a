import { Inject, Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { UUID } from '../fields/kinds/uuid.js';
import type { Call } from '../data/call.js';
import { isScope } from './scopes.js';
import { OrganizationCalls } from './organization-calls.service.js';
import { TokenAuthenticator, type TokenIdentity } from './token-authenticator.js';

/** The namespace of the ids that stand for callers with a token. Changing it changes their ids. */
const CALLER_IDS = '5b0f5f0e-2f6b-4c55-9d0e-6d1b0b0a7c3e';

/** Creates the calls of callers with a token of another issuer. */
@Injectable()
export class TokenCalls {
  constructor(
    @Inject(TokenAuthenticator) private readonly authenticators: readonly TokenAuthenticator[],
    private readonly calls: OrganizationCalls,
  ) {}

  /** Whether extensions accept tokens in addition to API keys. */
  get isEnabled(): boolean {
    return this.authenticators.length > 0;
  }

  /**
   * @returns undefined if no authenticator accepts the token, or its organization does not exist
   * @throws ApiError `query_failed`, and any error of an authenticator
   */
  async find(token: string): Promise<Call | undefined> {
    for (const authenticator of this.authenticators) {
      const identity = await authenticator.authenticate(token);
      if (!identity) continue;
      assertIdentity(authenticator, identity);
      return this.callOf(identity);
    }
    return undefined;
  }

  /**
   * @returns undefined if the organization does not exist
   * @throws ApiError `query_failed`
   */
  async callOf(identity: TokenIdentity): Promise<Call | undefined> {
    const { organizationId, subject, name = subject, scopes, expiresAt, userId } = identity;
    const call = await this.calls.find(organizationId, subject);
    if (!call) return undefined;
    const id = uuidv5(`${call.tenant.id} ${subject}`, CALLER_IDS);
    const key = { id, name, expiresAt, userId: userId ?? null, subject };
    return { ...call, actor: { ...call.actor, key, scopes: new Set(scopes.filter(isScope)) } };
  }
}

/** @throws Error if the identity has a value that Latitude cannot use */
function assertIdentity(
  authenticator: TokenAuthenticator,
  { subject, expiresAt, userId }: TokenIdentity,
): void {
  const fail = (problem: string) => {
    throw new Error(`${authenticator.constructor.name} returned ${problem}`);
  };
  if (subject === '') fail('an empty subject');
  if (Number.isNaN(expiresAt.getTime())) fail('an expiresAt that is not a date');
  if (userId !== undefined && !UUID.test(userId)) fail('a userId that is not a UUID');
}
