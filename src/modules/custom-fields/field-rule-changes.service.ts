import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Call, InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { overloaded } from '../../platform/errors/overload.js';
import { JobHandler } from '../../platform/jobs/job.decorator.js';
import { defineJob } from '../../platform/jobs/job.js';
import { JobsService } from '../../platform/jobs/jobs.service.js';
import { CustomFieldsRepository } from './custom-fields.repository.js';
import { FieldDefinitionsService } from './field-definitions.service.js';
import type { FieldRule } from './field-rule.js';
import { FieldRulesRepository } from './field-rules.repository.js';
import { FieldValuesRepository, MAX_NAMED, type Misfits } from './field-values.repository.js';

/** Maximum per organization, because each is checked on every write of custom fields. */
const MAX_DEFINITIONS = 100;

/** How often it is looked whether others have ended. */
const POLL_MS = 10;

const UNFINISHED = defineJob<{ rule_id: string }>('latitude.custom-field-rules');

/**
 * The change of a rule: it is stored as pending and enforced, the stored leads are checked, and then it is activated or
 * withdrawn. One change of an organization runs at a time. One that a crash has interrupted is withdrawn by a job.
 */
@Injectable()
export class FieldRuleChanges {
  constructor(
    private readonly repository: CustomFieldsRepository,
    private readonly rules: FieldRulesRepository,
    private readonly values: FieldValuesRepository,
    private readonly definitions: FieldDefinitionsService,
    private readonly database: TenantDatabase,
    private readonly jobs: JobsService,
  ) {}

  /**
   * Enforces a rule, and checks the stored leads. A dry run enforces nothing.
   * @throws ApiError `too_many_custom_fields`, `duplicate`, `definition_conflicts`, `overloaded`, `create_failed`
   */
  async check(call: Call, rule: FieldRule, isDryRun: boolean): Promise<void> {
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
    await this.values.removeValues(call, id);
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
    await this.removeLater(call, rule.id, '1m');
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
      const batch = await this.database.transaction(call, async (inner) => {
        if (!(await this.rules.renewLease(inner, rule.id))) throw overloaded();
        return this.values.checkBatch(inner, rule, after ?? null);
      });
      count += batch.unfit.count;
      unfit.push(...batch.unfit.ids.slice(0, MAX_NAMED - unfit.length));
      for (const id of batch.collided) collided.add(id);
      after = batch.last;
    } while (after !== undefined);
    const ids = [...unfit, ...[...collided].slice(0, MAX_NAMED)].slice(0, MAX_NAMED);
    return { count: count + collided.size, ids };
  }

  /**
   * Ends a change that `check` began: the rule replaces those that its field had.
   * @throws ApiError `overloaded` if another change has ended this one; `create_failed`
   */
  async activate(call: InTransaction<Call>, rule: FieldRule): Promise<void> {
    const replaced = await this.rules.activate(call, rule);
    if (!replaced) throw overloaded();
    await this.removeValues(call, replaced);
    await this.publish(call);
  }

  /** @returns the status of the rule; undefined if it exists no longer */
  private withdraw(call: TenantCall, id: string, isAbandoned: boolean) {
    return this.database.transaction(call, async (inner) => {
      const left = await this.rules.withdraw(inner, id, isAbandoned);
      if (left === undefined) await this.publish(inner);
      return left;
    });
  }

  /** Writers that have read the rules before can still write values, so that these are removed later. */
  private async removeValues(call: InTransaction, rules: readonly string[]): Promise<void> {
    for (const id of rules) await this.removeLater(call, id, '10s');
  }

  private removeLater(call: TenantCall, id: string, delay: '10s' | '1m'): Promise<unknown> {
    return this.jobs.send(call, UNFINISHED, { rule_id: id }, { delay });
  }

  /**
   * Removes what a rule that was replaced or removed has left, and a rule whose change an instance has not completed.
   * @throws ApiError `create_failed`
   */
  @JobHandler(UNFINISHED)
  async removeUnfinished(call: Call, { rule_id: id }: { rule_id: string }): Promise<void> {
    const left = await this.withdraw(call, id, true);
    if (left === undefined) await this.values.removeValues(call, id);
    // A change of many leads can take longer, and its instance can still fail.
    if (left !== undefined && left !== 'active') await this.removeLater(call, id, '1m');
  }

  /**
   * Removes the rules of a field that is deleted.
   * @throws ApiError `create_failed`
   */
  async remove(call: InTransaction, fieldId: string): Promise<void> {
    await this.removeValues(call, await this.rules.removeOfField(call, fieldId));
    await this.publish(call);
  }

  /**
   * Lets all instances read the definitions of the organization anew.
   * @throws ApiError `create_failed`
   */
  async publish(call: InTransaction): Promise<void> {
    const version = await this.repository.advanceVersion(call);
    await this.database.afterCommit(call, () => {
      this.definitions.setVersion(call.tenant.id, version);
    });
  }
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
