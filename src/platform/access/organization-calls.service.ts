import { Inject, Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { UUID } from '../fields/kinds/uuid.js';
import type { Call, TenantCall } from '../data/call.js';
import { CredentialStore } from './credential-store.js';
import { isScope } from './scopes.js';
import { systemCall } from './system-call.js';
import { TokenAuthenticator, type TokenIdentity } from './token-authenticator.js';

/** The namespace of the ids that stand for callers with a token. Changing it changes their ids. */
const CALLER_IDS = '5b0f5f0e-2f6b-4c55-9d0e-6d1b0b0a7c3e';

/** How long it is remembered whether an organization is suspended. */
const SUSPENSION_MS = 500;
const MAX_SUSPENSIONS = 10_000;

/** Creates calls of organizations for callers without an API key. */
@Injectable()
export class OrganizationCalls {
  private readonly suspensions = new Map<string, { isSuspended: boolean; readAt: number }>();

  constructor(
    private readonly store: CredentialStore,
    @Inject(TokenAuthenticator) private readonly authenticators: readonly TokenAuthenticator[],
  ) {}

  /**
   * @param caller what the log names in place of a key
   * @returns a call with every scope; undefined if the organization does not exist or is suspended
   */
  async find(organizationId: string, caller: string): Promise<Call | undefined> {
    if (!UUID.test(organizationId)) return undefined;
    const organization = await this.store.findOrganization(organizationId);
    return organization && systemCall(organization, { id: caller, name: caller });
  }

  /**
   * Whether an organization is suspended. Work that goes on for long stops then. One look-up serves a moment.
   * @throws ApiError `query_failed`
   */
  async isSuspended({ tenant: { id } }: TenantCall): Promise<boolean> {
    const known = this.suspensions.get(id);
    const now = performance.now();
    if (known && now - known.readAt < SUSPENSION_MS) return known.isSuspended;
    const isSuspended = (await this.store.findSuspended([id])).has(id);
    if (this.suspensions.size >= MAX_SUSPENSIONS) this.suspensions.clear();
    this.suspensions.set(id, { isSuspended, readAt: now });
    return isSuspended;
  }

  /** Whether extensions accept tokens in addition to API keys. */
  get acceptsTokens(): boolean {
    return this.authenticators.length > 0;
  }

  /**
   * @returns undefined if no authenticator accepts the token, or its organization does not exist or is suspended
   * @throws ApiError `query_failed`, and any error of an authenticator
   */
  async findByToken(token: string): Promise<Call | undefined> {
    for (const authenticator of this.authenticators) {
      const identity = await authenticator.authenticate(token);
      if (!identity) continue;
      assertIdentity(authenticator, identity);
      return this.ofToken(identity);
    }
    return undefined;
  }

  /**
   * @returns undefined if the organization does not exist or is suspended
   * @throws ApiError `query_failed`
   */
  async ofToken(identity: TokenIdentity): Promise<Call | undefined> {
    const { organizationId, subject, name = subject, scopes, expiresAt, userId } = identity;
    const call = await this.find(organizationId, subject);
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
