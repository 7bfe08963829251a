import type { ChangeBus } from '../../events/change-bus.js';
import type { Actor } from '../../tenancy/actor.js';
import type { ReadResource } from '../resources/resource-registry.js';

/** Records of which one client may be told at a time. */
export const MAX_SUBSCRIPTIONS = 100;

interface Subscription {
  /** As the client wrote it. */
  readonly uri: string;
  readonly scope: string;
  readonly end: () => void;
}

/** What one client is told of: records that change, within what its key may do. */
export class Subscriptions {
  private readonly byCanonicalUri = new Map<string, Subscription>();
  private readonly organizationId: string;
  private scopes: string;
  private isEnded = false;

  /** @param tell is told the address of a record that has changed, as the client wrote it */
  constructor(
    { organization, scopes }: Pick<Actor, 'organization' | 'scopes'>,
    private readonly changes: ChangeBus,
    private readonly tell: (uri: string) => void,
  ) {
    this.organizationId = organization.id;
    this.scopes = inOrder(scopes);
  }

  /** @returns whether there was room for it */
  add({ canonicalUri, uri, id, kind: { scope } }: ReadResource): boolean {
    const isFull =
      this.byCanonicalUri.size >= MAX_SUBSCRIPTIONS && !this.byCanonicalUri.has(canonicalUri);
    if (isFull || this.isEnded) return false;
    this.remove(canonicalUri);
    const end = this.changes.subscribe(this.organizationId, id, () => {
      this.tell(uri);
    });
    this.byCanonicalUri.set(canonicalUri, { uri, scope, end });
    return true;
  }

  /** @returns the address that it had, as the client wrote it */
  remove(address: string): string | undefined {
    const subscription = this.byCanonicalUri.get(address);
    this.byCanonicalUri.delete(address);
    subscription?.end();
    return subscription?.uri;
  }

  /**
   * Ends those of kinds that the key may read no more.
   * @returns whether the scopes are others than before, and what has ended
   */
  updateScopes(scopes: readonly string[]): { areOthers: boolean; lost: string[] } {
    const lost = [...this.byCanonicalUri].filter(([, { scope }]) => !scopes.includes(scope));
    const now = inOrder(scopes);
    const areOthers = now !== this.scopes;
    this.scopes = now;
    return { areOthers, lost: lost.flatMap(([address]) => this.remove(address) ?? []) };
  }

  /** Ends all of them, and takes no more. */
  end(): void {
    this.isEnded = true;
    for (const address of this.byCanonicalUri.keys()) this.remove(address);
  }

  get uris(): string[] {
    return Array.from(this.byCanonicalUri.values(), ({ uri }) => uri);
  }
}

function inOrder(scopes: Iterable<string>): string {
  return [...scopes].sort().join();
}
