import { type LeadForms, REASONS } from './lead-forms.js';

/** Sets of items that are connected directly or through others. */
class ConnectedItems {
  private readonly parents = new Map<string, string>();

  connect(one: string, other: string): void {
    this.parents.set(this.rootOf(one), this.rootOf(other));
  }

  /** The item that stands for the set of an item. */
  rootOf(item: string): string {
    let root = item;
    for (let next = this.parents.get(root); next && next !== root; next = this.parents.get(root)) {
      // Shortens the way for later calls.
      this.parents.set(root, this.parents.get(next) ?? next);
      root = next;
    }
    return root;
  }

  /** The sets of the given items. */
  setsOf(items: Iterable<string>): string[][] {
    const sets = new Map<string, string[]>();
    for (const item of new Set(items)) {
      const root = this.rootOf(item);
      const set = sets.get(root);
      if (set) set.push(item);
      else sets.set(root, [item]);
    }
    return [...sets.values()];
  }
}

/** The ids of leads, by what connects them. */
export function connectedBy(leads: readonly LeadForms[]): string[][] {
  const items = new ConnectedItems();
  for (const lead of leads) {
    for (const reason of REASONS) {
      const form = lead[reason];
      if (form !== null) items.connect(lead.id, `${reason} ${form}`);
    }
  }
  return items.setsOf(leads.map(({ id }) => id));
}

/** Another lead that has a form of a lead. */
export interface Link {
  readonly id: string;
  readonly other_id: string;
  /** The group of the other lead, if it is in one. */
  readonly group_id: string | null;
}

/** Leads without a group that are connected, and the groups that they connect. */
export interface Joined {
  readonly leads: string[];
  readonly groups: string[];
}

export function joinedBy(links: readonly Link[]): Joined[] {
  const items = new ConnectedItems();
  const groups = new Set(links.flatMap(({ group_id }) => group_id ?? []));
  for (const { id, other_id, group_id } of links) items.connect(id, group_id ?? other_id);
  const all = links.flatMap(({ id, other_id, group_id }) => [id, group_id ?? other_id]);
  return items.setsOf(all).map((set) => ({
    leads: set.filter((item) => !groups.has(item)),
    groups: set.filter((item) => groups.has(item)),
  }));
}
