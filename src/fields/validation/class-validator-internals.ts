import type { Type } from '@nestjs/common';
import {
  getMetadataStorage,
  IsDefined,
  type MetadataStorage,
  ValidationTypes,
} from 'class-validator';

// The metadata storage of class-validator. It is exported but not documented: everything that relies on it
// is in this file.

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

/** Returns the contexts of the rules of a class, which decorators take as an option. */
export function contextsOf(dto: Type<object>): unknown[] {
  return rulesOf(dto).map(({ context }) => context as unknown);
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
    .map((constraint) => (isWrapper(constraintCls) ? withInstance(constraint) : constraint));
}

class Sample {
  @IsDefined() property: unknown;
}
const WRAPPER = String(rulesOf(Sample)[0]?.constraintCls);

/** Whether class-validator created the class itself, around two functions. */
function isWrapper(constraintClass: RuleMetadata['constraintCls']): boolean {
  return String(constraintClass) === WRAPPER;
}

/** Resolves the instance once. Other classes may come from a container that creates new instances. */
function withInstance({ name, async, instance }: Constraint): Constraint {
  return { name, async, instance };
}
