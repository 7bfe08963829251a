import { etagOf, type LatitudeError } from 'latitude/client';
import { bodyOf, isSame, valueOf } from './values.js';

type Changes = ReadonlyMap<string, unknown>;

/** Values of one field that two people have changed at the same time. */
export interface Conflict {
  readonly name: string;
  readonly mine: unknown;
  readonly theirs: unknown;
}

interface Save<R extends object> {
  /** The record at which the changes began. */
  readonly base: R;
  readonly changes: Changes;
  readonly update: (body: Record<string, unknown>, ifMatch: string) => Promise<R>;
  /** Reads the record again after somebody else has changed it. */
  readonly read: () => Promise<R>;
  /** Asks whose values stay. @returns the names of those of others; undefined: nothing is saved */
  readonly choose: (conflicts: readonly Conflict[]) => Promise<ReadonlySet<string> | undefined>;
}

/**
 * Saves changes on top of those that others have made meanwhile. Fields that only one has changed are merged.
 * @returns undefined if the person does not want to save
 */
export async function saveChanges<R extends object>(save: Save<R>): Promise<R | undefined> {
  let { base, changes } = save;
  for (;;) {
    const tag = etagOf(base);
    if (tag === undefined) throw new Error('The record has no entity tag.');
    try {
      return await save.update(bodyOf(changes, base), tag);
    } catch (error) {
      if ((error as LatitudeError).code !== 'precondition_failed') throw error;
    }
    const current = await save.read();
    const conflicts = conflictsOf(changes, base, current);
    const theirs = conflicts.length > 0 ? await save.choose(conflicts) : new Set<string>();
    if (!theirs) return undefined;
    changes = new Map([...changes].filter(([name]) => !theirs.has(name)));
    base = current;
  }
}

function conflictsOf(changes: Changes, base: object, current: object): Conflict[] {
  return [...changes]
    .map(([name, mine]) => ({ name, mine, theirs: valueOf(current, name) }))
    .filter(({ name, mine, theirs }) => {
      return !isSame(theirs, valueOf(base, name)) && !isSame(theirs, mine);
    });
}
