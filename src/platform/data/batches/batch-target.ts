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

/** A record that an upsert matches. A record that matches by two fields is listed twice. */
export interface Match {
  readonly id: string;
}

/** Returns the ids of the matching records. */
export function idsOf(matches: readonly Match[]): string[] {
  return [...new Set(matches.map(({ id }) => id))];
}

/** The unique values of a record by field, normalized as the database compares them. */
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
   * Takes the locks that must come before those of the records themselves, so that batches do not deadlock: locks of unique
   * values, and of the records to which the inputs refer. They last until the transaction ends.
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
  /** `stored` resolves when the record is written. */
  create(call: BatchCall, input: Create): { readonly stored: Promise<{ readonly id: string }> };
  /** Tells whether the record was left as it was. */
  update(
    call: BatchCall,
    id: string,
    input: Update,
  ): { readonly stored: Promise<{ readonly isUnchanged: boolean }> };
}

/** Returns the service with another `update`, for records that a batch updates in another way than a single request. */
export function withUpdate<C extends object, U extends object>(
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
  /** The status of a removed record in the response. */
  readonly removedStatus: 'deleted' | 'cancelled';
  /** The error of a caller who may not use an action. */
  refusalOf?(call: Call, action: BatchAction): ApiError | undefined;
  uniqueValuesOf?(call: Call, data: object): UniqueValues;
  readonly upserts?: Upserts<Create>;
  /**
   * Whether two items of a batch may have the same unique value. If so, the later item matches the record of the earlier
   * one. If not, both fail.
   */
  readonly allowsRepeats?: boolean;
}

/** How a batch carries out upserts. */
export interface Upserts<Create> {
  /** Finds what each upsert matches. */
  findMatches(call: BatchCall, inputs: readonly object[]): Promise<readonly (readonly Match[])[]>;
  /** Returns the input with which an upsert without a match creates a record; undefined if it may only update. */
  createInputOf(input: object): Create | undefined;
  upsert(call: BatchCall, input: object, matches: readonly Match[]): Promise<Done>;
}
