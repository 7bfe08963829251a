import { Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { UniqueViolation } from '../../platform/data/connection/driver-error.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import type { FieldProblem } from '../../platform/errors/field-problem.js';
import {
  type FieldChecks,
  FieldDefinitionsService,
} from '../custom-fields/field-definitions.service.js';
import {
  type CustomFields,
  customFieldsProblems,
  CustomFieldsSchema,
} from './custom-fields-schema.js';

/** The checks of the custom fields of a new lead. */
export const OF_NEW_LEAD: FieldChecks = { isWhole: true, stored: {} };

/** Checks custom fields by the schema of a team and by the definitions of the organization. */
@Injectable()
export class LeadCustomFieldsService {
  constructor(
    private readonly schema: CustomFieldsSchema,
    private readonly definitions: FieldDefinitionsService,
  ) {}

  /** What is wrong with custom fields, by their names in the lead. */
  async problemsOf(call: Call, fields: CustomFields, checks: FieldChecks): Promise<FieldProblem[]> {
    const problems = await customFieldsProblems(this.schema, fields, call);
    return [...problems, ...(await this.definitions.problemsOf(call, fields, checks))];
  }

  /** @throws ApiError `validation_error` */
  async assertValid(call: Call, fields: CustomFields, checks: FieldChecks): Promise<void> {
    const problems = await this.problemsOf(call, fields, checks);
    if (problems.length > 0) throw validationError(problems);
  }

  /**
   * The keys whose values are arrays of options.
   * @throws ApiError `query_failed`
   */
  async listKeysOf(call: Call): Promise<string[]> {
    const definitions = await this.definitions.of(call);
    return definitions.filter(({ type }) => type === 'multi_select').map(({ key }) => key);
  }

  /**
   * The leads that have the unique values of these fields.
   * @throws ApiError `create_failed`, because it is part of a write
   */
  holdersOf(call: Call, fields: CustomFields = {}) {
    return this.definitions.findHolders(call, fields);
  }
}

/**
 * The leads of a statement that failed because one of them has a value that a definition refuses.
 * @throws any other error
 */
export function orNothing(error: unknown): undefined[] {
  const isRefused =
    error instanceof UniqueViolation ||
    (error instanceof ApiError && error.code === 'validation_error');
  if (isRefused) return [];
  throw error;
}
