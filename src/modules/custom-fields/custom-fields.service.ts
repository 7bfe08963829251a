import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { AuditLog } from '../../platform/data/audit/audit-log.js';
import type { Call } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import type { Page } from '../../platform/data/lists/page.js';
import { assertPrecondition, type Stored } from '../../platform/data/records/stored-record.js';
import { validationError } from '../../platform/errors/api-error.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { changedFields, nullsForMissing } from '../../platform/fields/changes.js';
import {
  type CreateCustomFieldDto,
  type CustomFieldDto,
  FieldDefinitionDto,
  type UpdateCustomFieldDto,
} from './custom-field.dto.js';
import { CustomFieldsRepository } from './custom-fields.repository.js';
import { FieldRuleChanges } from './field-rule-changes.service.js';
import { type FieldRule, hasOptions, mayBeUnique, ruleOf } from './field-rule.js';

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
    private readonly changes: FieldRuleChanges,
    private readonly database: TenantDatabase,
    private readonly audit: AuditLog,
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
    await this.changes.check(call, rule, dry_run ?? false);
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
      await this.changes.activate(inner, rule);
      await this.audit.add(inner, ['custom_field.created', definition.id]);
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
    if (!isSame) await this.changes.check(call, rule, dry_run);
    if (dry_run) return stored.with(changes);
    return this.database.transaction(call, async (inner) => {
      if (!isSame) await this.changes.activate(inner, rule);
      else if (Object.keys(changes).length > 0) await this.changes.publish(inner);
      const updated = await this.repository.update(inner, id, input).stored;
      if (updated && !updated.isUnchanged)
        await this.audit.add(inner, ['custom_field.updated', id]);
      return orNotFound(updated, 'custom field');
    });
  }

  /**
   * Deletes a definition. The values of leads stay, as those of a key without a definition.
   * @throws ApiError `not_found`, `precondition_failed`, `create_failed`
   */
  async delete(call: Call, id: string): Promise<{ id: string; deleted: true }> {
    const deleted = await this.database.transaction(call, async (inner) => {
      if (!(await this.repository.delete(inner, id))) return false;
      await this.changes.remove(inner, id);
      await this.audit.add(inner, ['custom_field.deleted', id]);
      return true;
    });
    orNotFound(deleted, 'custom field');
    return { id, deleted: true };
  }
}

/** @throws ApiError `validation_error` for properties that do not go together */
function assertConsistent({ type, options, unique }: Definition): void {
  const values = options.map(({ value }) => value);
  const problems = [];
  if (hasOptions(type) && values.length === 0) {
    problems.push({ field: 'options', message: `must not be empty for the type ${type}` });
  } else if (!hasOptions(type) && values.length > 0) {
    problems.push({ field: 'options', message: `must be empty for the type ${type}` });
  } else if (new Set(values).size < values.length) {
    problems.push({ field: 'options', message: 'must have each value once' });
  }
  if (unique && !mayBeUnique(type)) {
    problems.push({ field: 'unique', message: `cannot be true for the type ${type}` });
  }
  if (problems.length > 0) throw validationError(problems);
}
