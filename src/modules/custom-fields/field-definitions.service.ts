import { Injectable } from '@nestjs/common';
import { OrganizationSchemas } from '../../platform/access/organization-schemas.js';
import type { Call, Tenant } from '../../platform/data/call.js';
import type { UntypedFilter } from '../../platform/data/filters/filter.js';
import {
  type DefinedFields,
  withDefinitions,
} from '../../platform/data/filters/with-definitions.js';
import type { FieldProblem } from '../../platform/errors/field-problem.js';
import { IS_REQUIRED } from '../../platform/fields/field.js';
import type { JsonSchema } from '../../platform/fields/schema/json-schema.js';
import { type MaybePromise, mapMaybePromise } from '../../platform/maybe-promise.js';
import { definedFieldsOf } from './defined-fields.js';
import { type EnforcedRule, type FieldRule, problemOfValue } from './field-rule.js';
import { fieldsSchemaOf } from './field-schema.js';
import { FieldRulesRepository } from './field-rules.repository.js';
import { type FieldHolder, FieldValuesRepository } from './field-values.repository.js';

/** An organization whose definitions are read. */
interface DefinitionsCall {
  readonly tenant: Pick<Tenant, 'id' | 'definitionsVersion'>;
}

type CustomFields = Readonly<Record<string, unknown>>;

interface CachedRules {
  readonly version: number;
  readonly rules: MaybePromise<readonly EnforcedRule[]>;
}

/** How custom fields are checked, in addition to their types. */
export interface FieldChecks {
  /** Whether they are all fields of the lead, so that required ones must be among them. */
  readonly isWhole: boolean;
  /** The fields that the lead has, whose keys may stay. Without them, unknown keys are not looked for. */
  readonly stored?: CustomFields;
}

const MAX_ORGANIZATIONS = 10_000;
const NONE: readonly EnforcedRule[] = Object.freeze([]);

/**
 * The definitions of the custom fields of organizations. They are remembered until the version of the organization changes,
 * which calls know within a second. An organization that has never had a definition is not looked up.
 */
@Injectable()
export class FieldDefinitionsService {
  private readonly cache = new Map<string, CachedRules>();
  /** Versions that this instance has written, which calls can know later. */
  private readonly written = new Map<string, number>();

  constructor(
    private readonly rules: FieldRulesRepository,
    private readonly values: FieldValuesRepository,
    schemas: OrganizationSchemas,
  ) {
    schemas.add('custom_fields', (call) => this.schemaFor(call));
  }

  /** The definitions of an organization, in the order of their keys. @throws ApiError `query_failed` */
  of(call: DefinitionsCall): MaybePromise<readonly EnforcedRule[]> {
    const isActive = ({ status }: EnforcedRule) => status === 'active';
    return mapMaybePromise(this.enforcedFor(call), (rules) => rules.filter(isActive));
  }

  /** The keys that are defined. @throws ApiError `query_failed` */
  async keysOf(call: Call): Promise<string[]> {
    return (await this.of(call)).map(({ key }) => key);
  }

  /**
   * Gives the conditions of a filter on defined custom fields their types.
   * @param query of a list, an export or counts
   * @throws ApiError `validation_error` that names the path of each invalid condition, `query_failed`
   */
  async typed<Q extends object>(
    call: Call,
    query: Q & { readonly filter?: UntypedFilter },
  ): Promise<Q> {
    const { filter } = query;
    if (!filter) return query;
    return { ...query, filter: withDefinitions(filter, await this.filterFieldsOf(call)) };
  }

  /** What filters need to know about the custom fields. @throws ApiError `query_failed` */
  async filterFieldsOf(call: DefinitionsCall): Promise<DefinedFields> {
    return definedFieldsOf(await this.of(call));
  }

  /** Called after the definitions of an organization have changed. */
  setVersion(organizationId: string, version: number): void {
    if (this.written.size >= MAX_ORGANIZATIONS) this.written.clear();
    this.written.set(organizationId, Math.max(version, this.written.get(organizationId) ?? 0));
  }

  /**
   * What is wrong with custom fields of a lead, by their names in the lead.
   * @throws ApiError `query_failed`
   */
  problemsOf(
    call: Call,
    fields: CustomFields,
    { isWhole, stored }: FieldChecks,
  ): MaybePromise<FieldProblem[]> {
    const refusesUnknown = stored !== undefined && call.tenant.unknownFields === 'refuse';
    return mapMaybePromise(this.enforcedFor(call), (rules) => {
      const problems = rules.flatMap((rule) => {
        const message = problemOf(rule, valueIn(fields, rule.key), isWhole);
        return message === undefined ? [] : [{ field: nameOf(rule.key), message }];
      });
      if (!refusesUnknown) return problems;
      const known = new Set([...rules.map(({ key }) => key), ...Object.keys(stored)]);
      const unknown = Object.keys(fields).filter((key) => !known.has(key));
      const message = 'is defined by no custom field of the organization';
      return [...problems, ...unknown.map((key) => ({ field: nameOf(key), message }))];
    });
  }

  /**
   * The leads that have the unique values of these fields.
   * @throws ApiError `create_failed`, because it is part of a write
   */
  async findHolders(call: Call, fields: CustomFields): Promise<FieldHolder[]> {
    const unique = (await this.enforcedFor(call)).filter((rule) => rule.is_unique);
    const values = unique.flatMap((rule) => {
      const value = valueIn(fields, rule.key);
      const isValue = value !== null && problemOfValue(rule, value) === undefined;
      return isValue ? [{ rule, value }] : [];
    });
    return this.values.findHolders(call, values);
  }

  /** @returns undefined without definitions, and for keys that do not read them */
  private async schemaFor(call: Call): Promise<JsonSchema | undefined> {
    if (!call.actor.scopes.has('leads:read')) return undefined;
    const rules = await this.of(call);
    return rules.length === 0 ? undefined : fieldsSchemaOf(rules);
  }

  /** Also those that are pending. */
  private enforcedFor({ tenant }: DefinitionsCall): MaybePromise<readonly EnforcedRule[]> {
    const { id, definitionsVersion = 0 } = tenant;
    const version = Math.max(definitionsVersion, this.written.get(id) ?? 0);
    if (version === 0) return NONE;
    const cached = this.cache.get(id);
    return cached?.version === version ? cached.rules : this.load(id, version);
  }

  private load(id: string, version: number): Promise<readonly EnforcedRule[]> {
    if (this.cache.size >= MAX_ORGANIZATIONS) this.cache.clear();
    // Not in the transaction of the call, which can be rolled back.
    const rules = this.rules.findEnforced({ tenant: { id } });
    this.cache.set(id, { version, rules });
    const isCached = () => this.cache.get(id)?.rules === rules;
    rules.then(
      (found) => isCached() && this.cache.set(id, { version, rules: found }),
      () => isCached() && this.cache.delete(id),
    );
    return rules;
  }
}

/** A value; null if it is missing. The keys come from callers. */
function valueIn(fields: CustomFields, key: string): unknown {
  return Object.hasOwn(fields, key) ? (fields[key] ?? null) : null;
}

function problemOf(rule: FieldRule, value: unknown, isWhole: boolean): string | undefined {
  if (value !== null) return problemOfValue(rule, value);
  return rule.required && isWhole ? IS_REQUIRED : undefined;
}

function nameOf(key: string): string {
  return `custom_fields.${key}`;
}
