import type { ApiError } from '../../errors/api-error.js';
import type { Call, InTransaction } from '../call.js';
import type { BatchStatus } from './batch.dto.js';
import type { BatchAction, BatchItem, ItemDtos } from './batch-item.js';

/** What was done to a record. */
export interface Done {
  readonly id: string;
  readonly status: Exclude<BatchStatus, 'failed'>;
}

export type BatchCall = InTransaction<Call>;

/** A record that an upsert matches, once for each field. */
export interface Match {
  readonly id: string;
}

/** Returns the ids of the matching records. */
export function idsOf(matches: readonly Match[]): string[] {
  return [...new Set(matches.map(({ id }) => id))];
}

/** The values of a record that no other one may have, in their compared forms, by field. */
export type UniqueValues = Readonly<Record<string, string | null>>;

/** An item with its position, what it matches, and what came of it. */
export interface Step {
  readonly index: number;
  /** The id that the item has, also if it is invalid otherwise. */
  readonly id?: string | undefined;
  readonly item?: BatchItem;
  /** What an upsert matches. */
  matches: readonly Match[];
  outcome?: Done | ApiError;
}

/** What a batch calls of the service of a kind of record. */
export interface RecordService<Create extends object, Update extends object> {
  /**
   * Locks what is locked before records, until the transaction ends: values that no two records share, or the records to
   * which records refer or will refer.
   * @param inputs of creates, updates and upserts
   * @param ids of the records that are updated or removed
   */
  lockBefore(
    call: BatchCall,
    inputs: readonly (Create | Update)[],
    ids: readonly string[],
  ): Promise<unknown>;
  /** Locks and reads records until the transaction ends, in the order of their ids. */
  lockAll(call: BatchCall, ids: readonly string[]): Promise<void>;
  /** Creates records in one statement. @returns undefined for each that cannot be created; `create` says why */
  createTogether(
    call: BatchCall,
    inputs: readonly Create[],
  ): Promise<readonly ({ readonly id: string } | undefined)[]>;
  create(call: BatchCall, input: Create): { readonly stored: Promise<{ readonly id: string }> };
  /** Tells whether the record was left as it was. */
  update(
    call: BatchCall,
    id: string,
    input: Update,
  ): { readonly stored: Promise<{ readonly isUnchanged: boolean }> };
}

/** A service whose records are updated by another function. */
export function withUpdates<C extends object, U extends object>(
  service: RecordService<C, U>,
  update: RecordService<C, U>['update'],
): RecordService<C, U> {
  return {
    lockBefore: (call, inputs, ids) => service.lockBefore(call, inputs, ids),
    lockAll: (call, ids) => service.lockAll(call, ids),
    createTogether: (call, inputs) => service.createTogether(call, inputs),
    create: (call, input) => service.create(call, input),
    update,
  };
}

/** How a batch creates, changes and removes records of one kind. */
export interface BatchTarget<Create extends object, Update extends object> {
  readonly items: ItemDtos;
  readonly service: RecordService<Create, Update>;
  remove(call: BatchCall, id: string): Promise<unknown>;
  /** What `remove` does. */
  readonly removed: 'deleted' | 'cancelled';
  /** The error of a caller who may not use an action. */
  refusalOf?(call: Call, action: BatchAction): ApiError | undefined;
  uniqueValuesOf?(call: Call, data: object): UniqueValues;
  readonly upserts?: Upserts<Create>;
  /** Whether an item may repeat a value of an earlier one, which it then finds. Otherwise both fail. */
  readonly allowsRepeats?: boolean;
}

/** How a batch carries out upserts. */
export interface Upserts<Create> {
  /** Finds what each upsert matches. */
  findMatches(call: BatchCall, inputs: readonly object[]): Promise<readonly (readonly Match[])[]>;
  /** The input of a create, for an upsert without a match; undefined if it may not create. */
  creationOf(input: object): Create | undefined;
  upsert(call: BatchCall, input: object, matches: readonly Match[]): Promise<Done>;
}
