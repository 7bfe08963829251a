import type { Type } from '@nestjs/common';
import { validateSync, ValidationTypes } from 'class-validator';
import type { FieldProblem } from '../../errors/field-problem.js';
import { constraintsOf, type RuleMetadata, rulesByProperty, rulesOf } from './rule-metadata.js';

/** Validates an instance of a DTO. @returns the first broken rule of each property */
export type Validator = (value: object) => FieldProblem[];

/** Whether a rule, or a condition of other rules, holds for the value of a property. */
type Check = (object: object, value: unknown) => boolean;

/** A property with its rules. */
interface Property {
  readonly name: string;
  readonly conditions: readonly Check[];
  readonly rules: readonly Check[];
}

const COMPILED_TYPES = [
  ValidationTypes.CUSTOM_VALIDATION,
  ValidationTypes.CONDITIONAL_VALIDATION,
  ValidationTypes.IS_DEFINED,
  ValidationTypes.WHITELIST,
];

/**
 * Returns a function with the same results as `validateSync` of class-validator. The rules of a DTO are compiled
 * once. `validateSync` itself validates values that break a rule, and DTOs with unusual rules. Rules that are
 * added to the class later are ignored.
 */
export function compileValidator(dto: Type<object>): Validator {
  if (!rulesOf(dto).every(isCompiled)) return problemsByClassValidator;
  const properties = rulesByProperty(dto).map(([name, rules]) => propertyOf(name, rules));
  // class-validator uses the rules of `value.constructor`, which an input can change.
  const isValid = (value: object) =>
    value.constructor === dto && properties.every((property) => isValidIn(property, value));
  return (value) => (isValid(value) ? [] : problemsByClassValidator(value));
}

/** Whether a rule can be compiled: it applies to the value itself if the conditions are true. */
function isCompiled({ type, each, validateIf }: RuleMetadata): boolean {
  return COMPILED_TYPES.includes(type) && !each && validateIf === undefined;
}

function propertyOf(name: string, group: readonly RuleMetadata[]): Property {
  const ofType = (wanted: string) => group.filter(({ type }) => type === wanted);
  const rules = [
    ...ofType(ValidationTypes.IS_DEFINED),
    ...ofType(ValidationTypes.CUSTOM_VALIDATION),
  ];
  return {
    name,
    conditions: ofType(ValidationTypes.CONDITIONAL_VALIDATION).map(conditionOf),
    rules: rules.flatMap(checksOf),
  };
}

function conditionOf({ constraints }: RuleMetadata): Check {
  const [condition] = constraints as [Check];
  return condition;
}

/** A result other than `true`, such as a promise, is left to class-validator. */
function checksOf(rule: RuleMetadata): Check[] {
  return constraintsOf(rule).map((constraint) => (object, value) => {
    const result: unknown = constraint.instance.validate(value, {
      targetName: object.constructor.name,
      property: rule.propertyName,
      object,
      value,
      constraints: rule.constraints,
    });
    return result === true;
  });
}

function isValidIn({ name, conditions, rules }: Property, object: object): boolean {
  const value = (object as Readonly<Record<string, unknown>>)[name];
  const isExempt = conditions.some((holds) => !holds(object, value));
  return isExempt || rules.every((holds) => holds(object, value));
}

function problemsByClassValidator(value: object): FieldProblem[] {
  return validateSync(value, { stopAtFirstError: true, forbidUnknownValues: false }).map(
    ({ property, constraints = {} }) => ({
      field: property,
      message: Object.values(constraints).join(' and '),
    }),
  );
}
