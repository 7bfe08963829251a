import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Call, InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import type { Page } from '../../platform/data/lists/page.js';
import { assertPrecondition, type Stored } from '../../platform/data/records/stored-record.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { overloaded } from '../../platform/errors/overload.js';
import { changedFields, nullsForMissing } from '../../platform/fields/changes.js';
import { JobHandler } from '../../platform/jobs/job.decorator.js';
import { defineJob } from '../../platform/jobs/job.js';
import { JobsService } from '../../platform/jobs/jobs.service.js';
import {
  type CreateCustomFieldDto,
  type CustomFieldDto,
  FieldDefinitionDto,
  type UpdateCustomFieldDto,
} from './custom-field.dto.js';
import { CustomFieldsRepository } from './custom-fields.repository.js';
import { FieldDefinitionsService } from './field-definitions.service.js';
import { type FieldRule, hasOptions, mayBeUnique, ruleOf } from './field-rule.js';
import { FieldRulesRepository, MAX_NAMED, type Misfits } from './field-rules.repository.js';

/** Maximum per organization, because each is checked on every write of custom fields. */
const MAX_DEFINITIONS = 100;

/** How often it is looked whether others have ended. */
const POLL_MS = 10;

const UNFINISHED = defineJob<{ rule_id: string }>('latitude.custom-field-rules');

/** A definition, without the times of its record. */
type Definition = Omit<CustomFieldDto, 'created_at' | 'updated_at'>;

/** A new or changed definition whose rule all stored leads fit. It is enforced, and becomes visible when it is completed. */
interface Checked {
  readonly definition: Definition;
  /** Undefined if the rule stays as it is, and after a dry run. */
  readonly rule?: FieldRule;
}

/** Definitions of custom fields (docs/contract/custom-fields.md). */
@Injectable()
export class CustomFieldsService {
  constructor(
    private readonly repository: CustomFieldsRepository,
    private readonly rules: FieldRulesRepository,
    private readonly definitions: FieldDefinitionsService,
    private readonly database: TenantDatabase,
    private readonly jobs: JobsService,
  ) {}

  /** @throws ApiError `query_failed` */
  list(call: Call, query: ListQuery): Promise<Page<CustomFieldDto>> {
    return this.repository.list(call, query);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  async get(call: Call, id: string): Promise<Stored<CustomFieldDto>> {
    return orNotFound(await this.repository.find(call, id).stored, 'custom field');
  }

  /**
   * Checks the stored leads for a new definition, which is enforced from then on. The work has transactions of its own, so
   * that writers of leads do not wait for all of it.
   * @throws ApiError `validation_error`, `too_many_custom_fields`, `duplicate`, `definition_conflicts`, `overloaded`,
   *   `create_failed`
   */
  async prepare(call: Call, { dry_run, ...input }: CreateCustomFieldDto): Promise<Checked> {
    const id = uuidv7();
    const definition = { id, ...nullsForMissing(FieldDefinitionDto, input) } as Definition;
    assertConsistent(definition);
    const rule = ruleOf(uuidv7(), definition);
    await this.check(call, rule, dry_run ?? false);
    return { definition, ...(!dry_run && { rule }) };
  }

  /**
   * Makes a definition that was prepared visible.
   * @throws ApiError `overloaded`, `create_failed`
   */
  async complete(
    call: Call,
    { definition, rule }: Checked,
  ): Promise<CustomFieldDto | Stored<CustomFieldDto>> {
    if (!rule) {
      const now = new Date();
      return { ...definition, created_at: now, updated_at: now };
    }
    return this.database.transaction(call, async (inner) => {
      await this.activate(inner, rule);
      return orNotFound(await this.repository.insertRow(inner, definition).stored, 'custom field');
    });
  }

  /**
   * @throws ApiError `not_found`, `validation_error`, `precondition_failed`, `definition_conflicts`, `overloaded`,
   *   `create_failed`
   */
  async update(
    call: Call,
    id: string,
    { dry_run = false, ...input }: UpdateCustomFieldDto,
  ): Promise<Stored<CustomFieldDto>> {
    const stored = await this.get(call, id);
    const before = stored.value();
    const changes = changedFields(before, input) ?? {};
    const definition = { ...before, ...changes };
    assertConsistent(definition);
    assertPrecondition(call, stored);
    const rule = ruleOf(uuidv7(), definition);
    const isSame = changedFields(ruleOf(rule.id, before), rule) === undefined;
    if (!isSame) await this.check(call, rule, dry_run);
    if (dry_run) return stored.with(changes);
    return this.database.transaction(call, async (inner) => {
      if (!isSame) await this.activate(inner, rule);
      else if (Object.keys(changes).length > 0) await this.publish(inner);
      return orNotFound(await this.repository.update(inner, id, input).stored, 'custom field');
    });
  }

  /**
   * Deletes a definition. The values of leads stay, as those of a key without a definition.
   * @throws ApiError `not_found`, `precondition_failed`, `create_failed`
   */
  async delete(call: Call, id: string): Promise<{ id: string; deleted: true }> {
    const deleted = await this.database.transaction(call, async (inner) => {
      if (!(await this.repository.delete(inner, id))) return false;
      await this.removeValues(inner, await this.rules.removeOfField(inner, id));
      await this.publish(inner);
      return true;
    });
    orNotFound(deleted, 'custom field');
    return { id, deleted: true };
  }

  /**
   * Removes what a rule that was replaced or removed has left, and a rule whose change an instance has not completed.
   * @throws ApiError `create_failed`
   */
  @JobHandler(UNFINISHED)
  async removeUnfinished(call: Call, { rule_id: id }: { rule_id: string }): Promise<void> {
    if (await this.withdraw(call, id, true)) await this.rules.removeValues(call, id);
  }

  /**
   * Enforces a rule, and checks the stored leads. A dry run enforces nothing.
   * @throws ApiError `definition_conflicts`, and those of `prepare`
   */
  private async check(call: Call, rule: FieldRule, isDryRun: boolean): Promise<void> {
    // The transaction of an idempotent request would hide the rule from writers until all is done.
    const { tenant, actor } = call;
    const own = { tenant, actor };
    await this.begin(own, rule, isDryRun);
    try {
      if (!isDryRun) await this.awaitWriters(own);
      const misfits = await this.findMisfits(own, rule);
      if (misfits.count > 0) throw conflicts(rule, misfits);
      if (!isDryRun) return;
    } catch (error) {
      await this.end(own, rule);
      throw error;
    }
    await this.end(own, rule);
  }

  private async end(call: Call, { id }: FieldRule): Promise<void> {
    await this.withdraw(call, id, false);
    await this.rules.removeValues(call, id);
  }

  /** Stores a rule, after other changes of the definitions of the organization. */
  private async begin(call: Call, rule: FieldRule, isDryRun: boolean): Promise<void> {
    const attempt = (inner: InTransaction<Call>) => this.tryToBegin(inner, rule, isDryRun);
    const { deadline } = this.database.withDeadline(call);
    while (!(await this.database.transaction(call, attempt))) {
      if (deadline.waitMs < 0) throw overloaded();
      await pause(POLL_MS);
    }
  }

  private async tryToBegin(
    call: InTransaction<Call>,
    rule: FieldRule,
    isDryRun: boolean,
  ): Promise<boolean> {
    if (await this.rules.lock(call)) return false;
    const { count, id } = await this.rules.findDefined(call, rule.key);
    if (id !== null && id !== rule.field_id) throw duplicateKey(call, id);
    if (id === null && count >= MAX_DEFINITIONS) throw new ApiError('too_many_custom_fields');
    await this.rules.insert(call, rule, isDryRun ? 'dry_run' : 'pending');
    await this.jobs.send(call, UNFINISHED, { rule_id: rule.id }, { delay: '1m' });
    if (!isDryRun) await this.publish(call);
    return true;
  }

  /** Waits for the transactions that can have checked a lead before the rule was committed. */
  private async awaitWriters(call: Call): Promise<void> {
    const { deadline } = this.database.withDeadline(call);
    const next = await this.rules.nextTransaction(call);
    while (!(await this.rules.haveEnded(call, next))) {
      if (deadline.waitMs < 0) throw overloaded();
      await pause(POLL_MS);
    }
  }

  /** Checks all leads, in batches. */
  private async findMisfits(call: Call, rule: FieldRule): Promise<Misfits> {
    let count = 0;
    const unfit: string[] = [];
    const collided = new Set<string>();
    let after: string | undefined;
    do {
      const batch = await this.rules.checkBatch(call, rule, after ?? null);
      if (!batch) throw overloaded();
      count += batch.unfit.count;
      unfit.push(...batch.unfit.ids.slice(0, MAX_NAMED - unfit.length));
      for (const id of batch.collided) collided.add(id);
      after = batch.last;
    } while (after !== undefined);
    const ids = [...unfit, ...[...collided].slice(0, MAX_NAMED)].slice(0, MAX_NAMED);
    return { count: count + collided.size, ids };
  }

  private async activate(call: InTransaction<Call>, rule: FieldRule): Promise<void> {
    const replaced = await this.rules.activate(call, rule);
    if (!replaced) throw overloaded();
    await this.removeValues(call, replaced);
    await this.publish(call);
  }

  /** @returns whether the rule exists no longer */
  private withdraw(call: TenantCall, id: string, isAbandoned: boolean): Promise<boolean> {
    return this.database.transaction(call, async (inner) => {
      const isGone = await this.rules.withdraw(inner, id, isAbandoned);
      if (isGone) await this.publish(inner);
      return isGone;
    });
  }

  /** Writers that have read the rules before can still write values, so that these are removed later. */
  private async removeValues(call: InTransaction, rules: readonly string[]): Promise<void> {
    for (const id of rules)
      await this.jobs.send(call, UNFINISHED, { rule_id: id }, { delay: '10s' });
  }

  private async publish(call: InTransaction): Promise<void> {
    const version = await this.repository.advanceVersion(call);
    await this.database.afterCommit(call, () => {
      this.definitions.setVersion(call.tenant.id, version);
    });
  }
}

/** @throws ApiError `validation_error` for properties that do not go together */
function assertConsistent({ type, options, unique }: Definition): void {
  const values = options.map(({ value }) => value);
  const problems = [];
  if (hasOptions(type) && values.length === 0) {
    problems.push({ field: 'options', message: `must not be empty for the type ${type}` });
  } else if (!hasOptions(type) && values.length > 0) {
    problems.push({ field: 'options', message: `cannot be set for the type ${type}` });
  } else if (new Set(values).size < values.length) {
    problems.push({ field: 'options', message: 'must have each value once' });
  }
  if (unique && !mayBeUnique(type)) {
    problems.push({ field: 'unique', message: `cannot be true for the type ${type}` });
  }
  if (problems.length > 0) throw validationError(problems);
}

function duplicateKey({ actor, replay }: Call, id: string): ApiError {
  const mayRead = actor.scopes.has('leads:read');
  if (mayRead) replay?.needFor('existing_id', 'leads:read');
  const detail = { field: 'key', message: 'belongs to another custom field' };
  const message = 'Another custom field has this key.';
  return new ApiError('duplicate', {
    message,
    details: [mayRead ? { ...detail, existing_id: id } : detail],
  });
}

function conflicts({ key, is_unique }: FieldRule, { count, ids }: Misfits): ApiError {
  const field = `custom_fields.${key}`;
  const message = `${count} stored ${count === 1 ? 'lead does' : 'leads do'} not fit`;
  const shared = is_unique ? ', or share a value' : '';
  return new ApiError('definition_conflicts', {
    message: `${field}: ${message}${shared}.`,
    details: [{ field, message: `${message}${shared}`, count, lead_ids: ids }],
  });
}
