import type { Changes } from '../../events/changes.js';
import type { Actor } from '../../tenancy/actor.js';
import type { FoundResource } from '../resources/resources.js';

/** Records of which one client may be told at a time. */
export const MOST_SUBSCRIPTIONS = 100;

interface Subscription {
  /** As the client wrote it. */
  readonly uri: string;
  readonly scope: string;
  readonly end: () => void;
}

/** What one client is told of: records that change, within what its key may do. */
export class Subscriptions {
  private readonly byAddress = new Map<string, Subscription>();
  private readonly organizationId: string;
  private scopes: string;
  private isOver = false;

  /** @param tell is told the address of a record that has changed, as the client wrote it */
  constructor(
    { organization, scopes }: Pick<Actor, 'organization' | 'scopes'>,
    private readonly changes: Changes,
    private readonly tell: (uri: string) => void,
  ) {
    this.organizationId = organization.id;
    this.scopes = inOrder(scopes);
  }

  /** @returns whether there was room for it */
  add({ address, uri, id, kind: { scope } }: FoundResource): boolean {
    const isFull = this.byAddress.size >= MOST_SUBSCRIPTIONS && !this.byAddress.has(address);
    if (isFull || this.isOver) return false;
    this.remove(address);
    const end = this.changes.listen(this.organizationId, id, () => {
      this.tell(uri);
    });
    this.byAddress.set(address, { uri, scope, end });
    return true;
  }

  /** @returns the address that it had, as the client wrote it */
  remove(address: string): string | undefined {
    const subscription = this.byAddress.get(address);
    this.byAddress.delete(address);
    subscription?.end();
    return subscription?.uri;
  }

  /**
   * Ends those of kinds that the key may read no more.
   * @returns whether the scopes are others than before, and what has ended
   */
  followScopes(scopes: readonly string[]): { areOthers: boolean; lost: string[] } {
    const lost = [...this.byAddress].filter(([, { scope }]) => !scopes.includes(scope));
    const now = inOrder(scopes);
    const areOthers = now !== this.scopes;
    this.scopes = now;
    return { areOthers, lost: lost.flatMap(([address]) => this.remove(address) ?? []) };
  }

  /** Ends all of them, and takes no more. */
  end(): void {
    this.isOver = true;
    for (const address of this.byAddress.keys()) this.remove(address);
  }

  get uris(): string[] {
    return Array.from(this.byAddress.values(), ({ uri }) => uri);
  }
}

function inOrder(scopes: Iterable<string>): string {
  return [...scopes].sort().join();
}
