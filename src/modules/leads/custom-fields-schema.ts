import { Injectable, type Type } from '@nestjs/common';
import type { FieldProblem } from '../../platform/errors/field-problem.js';
import { BODY } from '../../platform/fields/input/read-input.js';
import { readClass } from '../../platform/nest/read-class.js';
import type { Call } from '../../platform/data/call.js';

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

/** The problems with the names that the fields have in the lead. */
export async function customFieldsProblems(
  schema: CustomFieldsSchema,
  fields: CustomFields,
  call: Call,
): Promise<FieldProblem[]> {
  const problems = await schema.validate(fields, call);
  return problems.map(({ field, message }) => ({
    field: field === WHOLE ? field : `${WHOLE}.${field}`,
    message,
  }));
}
