import { Injectable, type Type } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { UniqueViolation } from '../../platform/data/connection/driver-error.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import type { FieldProblem } from '../../platform/errors/field-problem.js';
import { BODY } from '../../platform/fields/input/read-input.js';
import { type MaybePromise, mapMaybePromise } from '../../platform/maybe-promise.js';
import { readClass } from '../../platform/nest/read-class.js';
import {
  type FieldChecks,
  FieldDefinitionsService,
} from '../custom-fields/field-definitions.service.js';

export type CustomFields = Readonly<Record<string, unknown>>;

/**
 * Validates the `custom_fields` of leads on create, and on an update that sets them. An extension can
 * replace it (docs/guides/replace-and-add.md#custom-fields).
 */
export abstract class CustomFieldsSchema {
  /** @returns a problem for each invalid field, named without `custom_fields.` */
  abstract validate(
    fields: CustomFields,
    call: Call,
  ): readonly FieldProblem[] | Promise<readonly FieldProblem[]>;
}

/** Accepts every object. */
@Injectable()
export class AnyCustomFields extends CustomFieldsSchema {
  validate(): readonly FieldProblem[] {
    return [];
  }
}

/** Returns a schema that accepts the properties of a class with rules of class-validator. */
export function customFieldsSchema(dto: Type<object>): CustomFieldsSchema {
  return {
    validate: async (fields) => (await readClass(dto, fields, [], { wording: WORDING })).problems,
  };
}

const WHOLE = 'custom_fields';
const WORDING = { ...BODY, whole: WHOLE };

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
  problemsOf(
    call: Call,
    fields: CustomFields,
    checks: FieldChecks,
  ): MaybePromise<readonly FieldProblem[]> {
    return mapMaybePromise(this.schema.validate(fields, call), (ofSchema) =>
      mapMaybePromise(this.definitions.problemsOf(call, fields, checks), (ofDefinitions) => [
        ...ofSchema.map(inLead),
        ...ofDefinitions,
      ]),
    );
  }

  /** @throws ApiError `validation_error` */
  assertValid(call: Call, fields: CustomFields, checks: FieldChecks): MaybePromise<void> {
    return mapMaybePromise(this.problemsOf(call, fields, checks), (problems) => {
      if (problems.length > 0) throw validationError(problems);
    });
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

/** A problem with the name that its field has in the lead. */
function inLead({ field, message }: FieldProblem): FieldProblem {
  return { field: field === WHOLE ? field : `${WHOLE}.${field}`, message };
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
