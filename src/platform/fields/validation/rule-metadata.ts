import type { Type } from '@nestjs/common';
import { getMetadataStorage, type MetadataStorage, ValidationTypes } from 'class-validator';

/** The metadata of a decorator: a rule, or a condition of other rules. */
export type RuleMetadata = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

/** The class that implements a rule. */
export type Constraint = Pick<
  ReturnType<MetadataStorage['getTargetValidatorConstraints']>[number],
  'name' | 'async' | 'instance'
>;

/** Returns the own and inherited rules of a class, of every group. */
export function rulesOf(dto: Type<object>): RuleMetadata[] {
  const noSchema = '';
  return getMetadataStorage().getTargetValidationMetadatas(dto, noSchema, false, false);
}

/** Returns the conditions of a property, such as `@IsOptional()`. */
export function conditionsOf(dto: Type<object>, name: string): RuleMetadata[] {
  return rulesOf(dto).filter(
    ({ type, propertyName }) =>
      type === ValidationTypes.CONDITIONAL_VALIDATION && propertyName === name,
  );
}

/** Groups the rules of a class by property. */
export function rulesByProperty(dto: Type<object>): [name: string, rules: RuleMetadata[]][] {
  return Object.entries(getMetadataStorage().groupByPropertyName(rulesOf(dto)));
}

/** Returns the synchronous constraints of a rule. `validateSync` ignores asynchronous ones. */
export function constraintsOf({ constraintCls }: RuleMetadata): Constraint[] {
  return getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .filter((constraint) => !constraint.async)
    .map(withInstance);
}

/**
 * Reads `instance` once: the getter searches the container of class-validator at each access. If the container creates
 * a new instance each time, the getter stays.
 */
function withInstance(constraint: Constraint): Constraint {
  const { name, async, instance } = constraint;
  return constraint.instance === instance ? { name, async, instance } : constraint;
}
