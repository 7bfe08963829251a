import type { ChangeBus } from '../../../platform/data/gateway/change-bus.js';
import type { Call } from '../../../platform/data/call.js';
import type { ResourceReference } from '../resources/resource-registry.js';

/** The number of records that one client can subscribe to. */
export const MAX_SUBSCRIPTIONS = 100;

interface Subscription {
  /** The URI as the client wrote it. */
  readonly uri: string;
  readonly scope: string;
  readonly unsubscribe: () => void;
}

/** The records whose changes one client is notified of, within the scopes of its key. */
export class Subscriptions {
  private readonly byCanonicalUri = new Map<string, Subscription>();
  private readonly organizationId: string;
  private scopes: string;
  private isEnded = false;

  /** @param onChange receives the URI of a changed record, as the client wrote it */
  constructor(
    { tenant, actor }: Call,
    private readonly changes: ChangeBus,
    private readonly onChange: (uri: string) => void,
  ) {
    this.organizationId = tenant.id;
    this.scopes = sortedList(actor.scopes);
  }

  /** @returns false when the limit is reached or the subscriptions have ended */
  add({ canonicalUri, uri, id, kind: { scope } }: ResourceReference): boolean {
    const isFull =
      this.byCanonicalUri.size >= MAX_SUBSCRIPTIONS && !this.byCanonicalUri.has(canonicalUri);
    if (isFull || this.isEnded) return false;
    this.remove(canonicalUri);
    const unsubscribe = this.changes.subscribe(this.organizationId, id, () => {
      this.onChange(uri);
    });
    this.byCanonicalUri.set(canonicalUri, { uri, scope, unsubscribe });
    return true;
  }

  /**
   * Replaces the subscriptions. Those that stay keep the URI that the client wrote first.
   * @returns the new ones, and the URIs of the removed ones
   */
  replace(resources: readonly ResourceReference[]) {
    const wanted = new Set(resources.map(({ canonicalUri }) => canonicalUri));
    const unwanted = [...this.byCanonicalUri.keys()].filter((uri) => !wanted.has(uri));
    const removedUris = unwanted.flatMap((uri) => this.remove(uri) ?? []);
    const missing = resources.filter(({ canonicalUri }) => !this.byCanonicalUri.has(canonicalUri));
    return { added: missing.filter((resource) => this.add(resource)), removedUris };
  }

  /** @returns the URI of the removed subscription, as the client wrote it */
  remove(canonicalUri: string): string | undefined {
    const subscription = this.byCanonicalUri.get(canonicalUri);
    this.byCanonicalUri.delete(canonicalUri);
    subscription?.unsubscribe();
    return subscription?.uri;
  }

  /**
   * Ends the subscriptions that the new scopes do not allow.
   * @returns whether the scopes have changed, and the URIs of the ended subscriptions
   */
  updateScopes(scopes: readonly string[]): { changed: boolean; removedUris: string[] } {
    const notAllowed = [...this.byCanonicalUri].filter(([, { scope }]) => !scopes.includes(scope));
    const sorted = sortedList(scopes);
    const changed = sorted !== this.scopes;
    this.scopes = sorted;
    return { changed, removedUris: notAllowed.flatMap(([uri]) => this.remove(uri) ?? []) };
  }

  /** Ends all subscriptions and refuses new ones. */
  end(): void {
    this.isEnded = true;
    for (const canonicalUri of this.byCanonicalUri.keys()) this.remove(canonicalUri);
  }

  get uris(): string[] {
    return Array.from(this.byCanonicalUri.values(), ({ uri }) => uri);
  }
}

function sortedList(scopes: Iterable<string>): string {
  return [...scopes].sort().join();
}
