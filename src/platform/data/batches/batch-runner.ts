import { Injectable } from '@nestjs/common';
import { ApiError, validationError } from '../../errors/api-error.js';
import { isObject } from '../../fields/kinds/json-object.js';
import { UUID } from '../../fields/kinds/uuid.js';
import { giveWay } from '../../give-way.js';
import type { Call } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import type { BatchDto, BatchOutcome, BatchResultDto } from './batch.dto.js';
import { type BatchItem, readItem } from './batch-item.js';
import { type BatchCall, type BatchTarget, type Done, idsOf, type Step } from './batch-target.js';
import { failRepeated } from './repeated-items.js';

/** Carries out batches (docs/contract/batches.md). */
@Injectable()
export class BatchRunner {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Carries out all items in one transaction, in their order. An item that is refused has no effect, because repositories send
   * the statements of a transaction in savepoints.
   * @throws ApiError of the first item that fails, if the batch is atomic; `create_failed`
   */
  async run<C extends object, U extends object>(
    call: Call,
    { atomic, items }: BatchDto,
    target: BatchTarget<C, U>,
  ): Promise<BatchOutcome> {
    const steps: Step[] = [];
    for (const [index, plain] of items.entries()) {
      await giveWay();
      steps.push(stepOf(call, plain, index, target));
    }
    if (atomic) assertValid(steps);
    // The transaction can run more than once.
    return this.database.transaction(call, async (inner) => {
      const own = steps.map((step) => ({ ...step }));
      await new BatchRun(inner, own, target, atomic).run();
      return outcomeOf(own);
    });
  }
}

function stepOf<C extends object, U extends object>(
  call: Call,
  plain: unknown,
  index: number,
  target: BatchTarget<C, U>,
): Step {
  const item = readItem(target.items, plain);
  const id = idOf(plain);
  if (item instanceof ApiError) return { index, id, matches: [], outcome: item };
  const outcome = target.refusalOf?.(call, item.action);
  return { index, id, item, matches: [], outcome };
}

/** One run of a batch in a transaction. */
class BatchRun<C extends object, U extends object> {
  constructor(
    private readonly call: BatchCall,
    private readonly steps: readonly Step[],
    private readonly target: BatchTarget<C, U>,
    private readonly isAtomic: boolean,
  ) {}

  async run(): Promise<void> {
    const { call, steps, target } = this;
    await this.lockBefore();
    await this.findMatches();
    if (!target.allowsRepeats) failRepeated(this.open(), (data) => this.uniqueValuesOf(data));
    if (this.isAtomic) assertNone(steps);
    const ids = this.open().flatMap(({ item, matches }) => [item?.id ?? [], idsOf(matches)].flat());
    if (ids.length > 0) await target.service.lockAll(call, ids);
    let together: { step: Step; input: C }[] = [];
    // Values of earlier groups stay. A repeated one then begins another group, which does no harm.
    const values = new Set<string>();
    for (const step of this.open()) {
      const input = this.creationOf(step);
      if (!input || this.repeats(input, values)) {
        await this.create(together);
        together = [];
      }
      if (input) together.push({ step, input });
      else await this.attempt(step);
    }
    await this.create(together);
  }

  /** Whether a record must not be created together with those before it, because it repeats one of their values. */
  private repeats(input: C, values: Set<string>): boolean {
    if (!this.target.allowsRepeats) return false;
    const own = Object.entries(this.uniqueValuesOf(input)).flatMap(([field, value]) =>
      value === null ? [] : [`${field} ${value}`],
    );
    const isRepeated = own.some((value) => values.has(value));
    for (const value of own) values.add(value);
    return isRepeated;
  }

  private uniqueValuesOf(data: object) {
    return this.target.uniqueValuesOf?.(this.call, data) ?? {};
  }

  /** The steps that have not failed. */
  private open(): Step[] {
    return this.steps.filter(({ outcome }) => outcome === undefined);
  }

  /** All locks are taken before the first item, in one order for all batches, so that these do not deadlock. */
  private async lockBefore(): Promise<void> {
    const inputs = this.open().flatMap(({ item }) =>
      item && item.action !== 'delete' ? (item.values.data as C | U) : [],
    );
    const ids = this.open().flatMap(({ item }) => item?.id ?? []);
    if (inputs.length + ids.length > 0)
      await this.target.service.lockBefore(this.call, inputs, ids);
  }

  private async findMatches(): Promise<void> {
    const upserts = this.open().filter(({ item }) => item?.action === 'upsert');
    if (upserts.length === 0) return;
    const inputs = upserts.map(({ item }) => item?.values ?? {});
    const matches = (await this.target.upserts?.findMatches(this.call, inputs)) ?? [];
    for (const [index, step] of upserts.entries()) step.matches = matches[index] ?? [];
  }

  /** The input of a step that only creates a record. */
  private creationOf({ item, matches }: Step): C | undefined {
    if (item?.action === 'create') return item.values.data as C;
    if (item?.action !== 'upsert' || matches.length > 0) return undefined;
    return this.target.upserts?.createInputOf(item.values);
  }

  /** Creates records in one statement, and those that it leaves out one by one, for their errors. */
  private async create(group: readonly { step: Step; input: C }[]): Promise<void> {
    if (group.length === 0) return;
    const inputs = group.map(({ input }) => input);
    const created = await this.target.service.createTogether(this.call, inputs);
    for (const [index, { step }] of group.entries()) {
      const record = created[index];
      if (record) step.outcome = { id: record.id, status: 'created' };
      else await this.attempt(step);
    }
  }

  private async carryOut({ item, matches }: Step): Promise<Done> {
    const { target } = this;
    if (!item) throw new Error('a step without an item was carried out');
    const { action, id = '', values, precondition } = item;
    const call = precondition ? { ...this.call, precondition } : this.call;
    if (action === 'upsert' && target.upserts) return target.upserts.upsert(call, values, matches);
    if (action === 'delete') {
      await target.remove(call, id);
      return { id, status: target.removedStatus };
    }
    if (action === 'update') {
      const update = target.service.update(call, id, values.data as U);
      const { isUnchanged } = await inField('data', update.stored);
      return { id, status: isUnchanged ? 'unchanged' : 'updated' };
    }
    const creation = target.service.create(call, values.data as C);
    const { id: created } = await inField('data', creation.stored);
    return { id: created, status: 'created' };
  }

  private async attempt(step: Step): Promise<void> {
    try {
      step.outcome = await this.carryOut(step);
    } catch (error) {
      if (!isOfItem(error)) throw error;
      if (this.isAtomic) throw inBatch(error, step);
      step.outcome = error;
    }
  }
}

/** Names the fields of an error by their paths. A `not_found` names the `id` of the item. */
async function inField<T>(path: string, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const namesField = error instanceof ApiError && error.details && error.code !== 'not_found';
    throw namesField ? error.within(path) : error;
  });
}

function idOf(item: unknown): string | undefined {
  const id = isObject(item) ? item.id : undefined;
  return typeof id === 'string' && UUID.test(id) ? id.toLowerCase() : undefined;
}

/** Whether an error is about an item. Others, such as a lost connection or a key that has ended, are about the whole batch. */
function isOfItem(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500 && error.status !== 401;
}

/** @throws ApiError `validation_error` with the problems of all items; the first other error */
function assertValid(steps: readonly Step[]): void {
  const problems = steps.flatMap(({ index, outcome }) =>
    outcome instanceof ApiError && outcome.code === 'validation_error'
      ? (outcome.within(`items.${index}`).details ?? [])
      : [],
  );
  if (problems.length > 0) throw validationError(problems);
  assertNone(steps);
}

function assertNone(steps: readonly Step[]): void {
  const failed = steps.find(({ outcome }) => outcome instanceof ApiError);
  if (failed) throw inBatch(failed.outcome as ApiError, failed);
}

/** The error of an atomic batch. It names the item. */
function inBatch(error: ApiError, { index, item }: Step): ApiError {
  const path = `items.${index}`;
  if (error.code === 'validation_error') return error.within(path);
  return error.within(path, { field: fieldOf(error, item), message: error.message });
}

/** The field of an item at fault, for an error that names none. */
function fieldOf({ code }: ApiError, item: BatchItem | undefined): string {
  if (code === 'precondition_failed') return 'if_match';
  if (code === 'not_found') return item?.id === undefined ? 'match_on' : 'id';
  return 'action';
}

function outcomeOf(steps: readonly Step[]): BatchOutcome {
  const results = steps.map(({ index, id = null, outcome }): BatchResultDto => {
    if (!(outcome instanceof ApiError)) {
      if (!outcome) throw new Error(`item ${index} has no outcome`);
      return { index, status: outcome.status, id: outcome.id };
    }
    const { error } = outcome.getResponse() as { error: object };
    return { index, status: 'failed', id, error };
  });
  const failed = results.filter(({ status }) => status === 'failed').length;
  return { results, meta: { succeeded: results.length - failed, failed } };
}
