import type { Type } from '@nestjs/common';
import {
  getMetadataStorage,
  type MetadataStorage,
  ValidateBy,
  type ValidationArguments,
  ValidationTypes,
} from 'class-validator';
import type { Rule } from './rule.js';

/** The metadata of a decorator of class-validator: a rule, or a condition of other rules. */
export type RuleMetadata = ReturnType<MetadataStorage['getTargetValidationMetadatas']>[number];

/** The context of the rules that fields declare. */
export const OF_FIELD = Object.freeze({});

/**
 * Declares a rule of a field with class-validator, so that pipes and mapped types of Nest know it. Latitude itself reads it
 * from the field.
 */
export function declareRule({ name, problemOf }: Rule): PropertyDecorator {
  const problem = (args?: ValidationArguments) =>
    problemOf(args?.value, (args?.object ?? {}) as Readonly<Record<string, unknown>>);
  const validator = {
    validate: (_: unknown, args?: ValidationArguments) => problem(args) === undefined,
    defaultMessage: (args?: ValidationArguments) => problem(args) ?? '',
  };
  return ValidateBy({ name, validator }, { context: OF_FIELD });
}

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
