import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { repeat } from '../config/repeated-work.js';
import { ApiError } from '../errors/api-error.js';
import type { Actor, TenantCall } from '../data/call.js';
import { CredentialStore } from './credential-store.js';
import { isExpired } from './authenticator.js';

/** Open responses must end within one second after their key is revoked or expires. */
const INTERVAL_MS = 700;

/** A response that stays open after its key was checked: a stream, or a request that waits. */
export interface OpenResponse {
  readonly key: Actor['key'];
  readonly tenant: TenantCall['tenant'];
  updateScopes(scopes: readonly string[]): void;
  /** Called once when the key is no longer valid. */
  end(): void;
}

/** Periodically looks up the keys of open responses (docs/contract/keys-and-scopes.md#end-of-a-key). */
@Injectable()
export class KeyRevalidation implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly open = new Set<OpenResponse>();
  private stop = (): void => undefined;

  constructor(private readonly store: CredentialStore) {}

  onApplicationBootstrap(): void {
    const failure = 'the keys of open responses could not be looked up';
    this.stop = repeat(INTERVAL_MS, () => this.revalidate(), failure);
  }

  onModuleDestroy(): void {
    this.stop();
  }

  /**
   * Looks up a key without the cache. A stream must not start after its key has become invalid, even
   * while the cache still accepts the key for other requests. A token is valid until it expires.
   * @throws ApiError `unauthorized`, `query_failed`
   */
  async assertActive(actor: Pick<Actor, 'key' | 'scopes'>): Promise<void> {
    if (!(await this.scopesOf(actor))) throw new ApiError('unauthorized');
  }

  /**
   * The scopes that a caller has now, without the cache. Those of a token stay the same until it expires.
   * @returns undefined if the key is no longer valid
   * @throws ApiError `query_failed`
   */
  async scopesOf({
    key,
    scopes,
  }: Pick<Actor, 'key' | 'scopes'>): Promise<ReadonlySet<string> | undefined> {
    if (key.subject !== undefined) return scopes;
    const id = credentialIdOf(key);
    const found = (await this.store.findScopes([id])).get(id);
    return found && new Set(found);
  }

  /**
   * Ends `response` when its key, grant or token is no longer valid, and passes changed scopes to it.
   * @returns a function that must be called when the response has ended otherwise
   */
  watch(response: OpenResponse): () => void {
    this.open.add(response);
    return () => this.open.delete(response);
  }

  /** A failed lookup ends nothing. */
  private async revalidate(): Promise<void> {
    for (const response of this.open) if (isExpired(response)) this.end(response);
    const withTokens = [...this.open].filter(({ key }) => key.subject !== undefined);
    if (withTokens.length > 0) await this.endSuspended(withTokens);
    const withKeys = [...this.open].filter(({ key }) => key.subject === undefined);
    if (withKeys.length === 0) return;
    const ids = new Set(withKeys.map(({ key }) => credentialIdOf(key)));
    const scopes = await this.store.findScopes([...ids]);
    for (const response of withKeys) {
      const found = scopes.get(credentialIdOf(response.key));
      if (!found) this.end(response);
      else if (this.open.has(response)) response.updateScopes(found);
    }
  }

  /** A token of another issuer is valid until it expires, unless its organization is suspended. */
  private async endSuspended(responses: readonly OpenResponse[]): Promise<void> {
    const ids = new Set(responses.map(({ tenant }) => tenant.id));
    const suspended = await this.store.findSuspended([...ids]);
    for (const response of responses) if (suspended.has(response.tenant.id)) this.end(response);
  }

  private end(response: OpenResponse): void {
    if (this.open.delete(response)) response.end();
  }
}

/** The id of what a response belongs to: the grant, if the caller has one, otherwise the key. */
function credentialIdOf({ id, grant }: Actor['key']): string {
  return grant?.id ?? id;
}
