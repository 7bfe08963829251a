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
  private scopes: string;
  private isEnded = false;

  /**
   * @param onChange receives the URI of a changed record, as the client wrote it
   * @param onRemoved receives the URI of a subscription that has ended
   */
  constructor(
    private readonly call: Call,
    private readonly changes: ChangeBus,
    private readonly onChange: (uri: string) => void,
    private readonly onRemoved: (uri: string) => void = () => undefined,
  ) {
    this.scopes = sortedList(call.actor.scopes);
  }

  /** @returns false when the limit is reached or the subscriptions have ended */
  add({ canonicalUri, uri, id, kind: { scope } }: ResourceReference): boolean {
    const isFull =
      this.byCanonicalUri.size >= MAX_SUBSCRIPTIONS && !this.byCanonicalUri.has(canonicalUri);
    if (isFull || this.isEnded) return false;
    this.byCanonicalUri.get(canonicalUri)?.unsubscribe();
    const unsubscribe = this.changes.subscribe(this.call.tenant.id, id, () => {
      this.onChange(uri);
    });
    this.byCanonicalUri.set(canonicalUri, { uri, scope, unsubscribe });
    return true;
  }

  /**
   * Replaces the subscriptions. Those that stay keep the URI that the client wrote first.
   * @returns the new ones
   */
  replace(resources: readonly ResourceReference[]): ResourceReference[] {
    const wanted = new Set(resources.map(({ canonicalUri }) => canonicalUri));
    for (const uri of this.byCanonicalUri.keys()) if (!wanted.has(uri)) this.remove(uri);
    const missing = resources.filter(({ canonicalUri }) => !this.byCanonicalUri.has(canonicalUri));
    return missing.filter((resource) => this.add(resource));
  }

  remove(canonicalUri: string): void {
    const subscription = this.byCanonicalUri.get(canonicalUri);
    if (!subscription) return;
    this.byCanonicalUri.delete(canonicalUri);
    subscription.unsubscribe();
    this.onRemoved(subscription.uri);
  }

  /**
   * Ends the subscriptions that the new scopes do not allow.
   * @returns whether the scopes have changed
   */
  updateScopes(scopes: readonly string[]): boolean {
    for (const [uri, { scope }] of this.byCanonicalUri)
      if (!scopes.includes(scope)) this.remove(uri);
    const before = this.scopes;
    this.scopes = sortedList(scopes);
    return this.scopes !== before;
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
