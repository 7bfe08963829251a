import type { Type } from '@nestjs/common';
import { validateSync } from 'class-validator';
import type { FieldProblem } from '../../errors/field-problem.js';
import {
  type Field,
  FieldContext,
  fieldsOf,
  IS_REQUIRED,
  isClearable,
  isUpdate,
  rulesOfField,
} from '../field.js';
import { isGiven, type Rule } from './rule.js';
import { OF_FIELD, rulesOf } from './rule-metadata.js';

type Values = Readonly<Record<string, unknown>>;

/** Validates an instance of a DTO. @returns the first broken rule of each property */
export type Validator = (value: object) => FieldProblem[];

/** Returns the validator of the fields of a DTO, or that of class-validator if something else has declared rules. */
export function validatorOf(dto: Type<object>): Validator {
  const fields = new Map(fieldsOf(dto).map((field) => [field.name, field]));
  if (!hasOnlyRulesOfFields(dto)) {
    return (value) => withParts(problemsByClassValidator(value), value, fields);
  }
  const isOfUpdate = isUpdate(dto);
  const checks = [...fields.values()].map((field) => ({
    field,
    rules: rulesOfField(field, isOfUpdate),
  }));
  return (value) => {
    const problems: FieldProblem[] = [];
    for (const { field, rules } of checks) {
      const given = (value as Values)[field.name];
      if (isGiven(given) || (isOfUpdate && given === null && !isClearable(field))) {
        problems.push(...problemsOf(field, rules, given, value as Values));
      } else if (isMissing(field, value as Values) && !isOfUpdate) {
        problems.push({ field: field.name, message: IS_REQUIRED });
      }
    }
    return problems;
  };
}

/** Whether an input must have a field that it does not have. */
function isMissing({ presence: { required, unless } }: Field, value: Values): boolean {
  return required === true && !(unless !== undefined && isGiven(value[unless]));
}

/** Replaces the problem of each field that consists of others by those of its parts. */
export function withParts(
  problems: readonly FieldProblem[],
  value: object,
  fields: ReadonlyMap<string, Field>,
): FieldProblem[] {
  return problems.flatMap((problem) => {
    const { field: name } = problem;
    const given = (value as Values)[name];
    if (given === undefined || given === null) return [problem];
    const parts = fields.get(name)?.nested?.(given, name) ?? NO_PROBLEMS;
    return parts.length > 0 ? parts : [problem];
  });
}

/** The problems of the parts of a value, or its first broken rule. */
function problemsOf(
  { name, nested }: Field,
  rules: readonly Rule[],
  value: unknown,
  object: Values,
): readonly FieldProblem[] {
  const ofParts = nested?.(value, name) ?? NO_PROBLEMS;
  if (ofParts.length > 0) return ofParts;
  for (const { problemOf } of rules) {
    const message = problemOf(value, object);
    if (message !== undefined) return [{ field: name, message }];
  }
  return NO_PROBLEMS;
}

const NO_PROBLEMS: readonly FieldProblem[] = [];

/** Whether neither decorators of class-validator nor mapped types of Nest have added to the fields of a DTO. */
function hasOnlyRulesOfFields(dto: Type<object>): boolean {
  const isOfField = ({ context }: { readonly context?: unknown }) =>
    context === OF_FIELD || context instanceof FieldContext;
  return rulesOf(dto).every(isOfField) && !fieldsOf(dto).some(({ isCopied }) => isCopied);
}

function problemsByClassValidator(value: object): FieldProblem[] {
  return validateSync(value, { stopAtFirstError: true, forbidUnknownValues: false }).map(
    ({ property, constraints = {} }) => ({
      field: property,
      message: Object.values(constraints).join(' and '),
    }),
  );
}
