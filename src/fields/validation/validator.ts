import type { Type } from '@nestjs/common';
import { type ValidationArguments, validateSync, ValidationTypes } from 'class-validator';
import type { FieldProblem } from '../../errors/field-problem.js';
import {
  type Constraint,
  constraintsOf,
  type RuleMetadata,
  rulesByProperty,
  rulesOf,
} from './rule-metadata.js';
import { messageOf } from './validation-message.js';

/** Validates an instance of a DTO. @returns the first broken rule of each property */
export type Validator = (value: object) => FieldProblem[];

interface Check {
  readonly metadata: RuleMetadata;
  readonly constraint: Constraint;
}

/** A property with its rules, in the order in which class-validator checks them. */
interface Property {
  readonly name: string;
  readonly conditions: readonly RuleMetadata[];
  readonly checks: readonly Check[];
}

const COMPILED_TYPES = [
  ValidationTypes.CUSTOM_VALIDATION,
  ValidationTypes.CONDITIONAL_VALIDATION,
  ValidationTypes.IS_DEFINED,
  ValidationTypes.WHITELIST,
];

/**
 * Compiles the rules of a DTO once, with the same results as `validateSync` of class-validator. DTOs with
 * unusual rules are validated by `validateSync` itself. Rules that are added to the class later are
 * ignored.
 */
export function compileValidator(dto: Type<object>): Validator {
  if (!rulesOf(dto).every(isCompiled)) return problemsByClassValidator;
  const properties = rulesByProperty(dto).map(([name, rules]) => propertyOf(name, rules));
  // class-validator uses the rules of `value.constructor`, which an input can change.
  return (value) =>
    value.constructor === dto ? problemsOf(value, properties) : problemsByClassValidator(value);
}

/** Whether a rule can be compiled: it applies to the value itself if the conditions are true. */
function isCompiled(rule: RuleMetadata): boolean {
  const { type, each, validateIf } = rule;
  const isUsual = COMPILED_TYPES.includes(type) && !each && validateIf === undefined;
  return isUsual && constraintsOf(rule).every(isRecorded);
}

/** Whether class-validator reports a failure under this name. It loses `__proto__`. */
function isRecorded({ name }: Constraint): boolean {
  const messages: Record<string, string> = {};
  messages[name] = '';
  return Object.keys(messages).length > 0;
}

function propertyOf(name: string, group: readonly RuleMetadata[]): Property {
  const ofType = (wanted: string) => group.filter(({ type }) => type === wanted);
  const rules = [
    ...ofType(ValidationTypes.IS_DEFINED),
    ...ofType(ValidationTypes.CUSTOM_VALIDATION),
  ];
  return {
    name,
    conditions: ofType(ValidationTypes.CONDITIONAL_VALIDATION),
    checks: rules.flatMap((metadata) =>
      constraintsOf(metadata).map((constraint) => ({ metadata, constraint })),
    ),
  };
}

function problemsOf(value: object, properties: readonly Property[]): FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const property of properties) {
    const problem = problemOf(property, value);
    if (problem) problems.push(problem);
  }
  return problems;
}

function problemOf({ name, conditions, checks }: Property, object: object) {
  const value = (object as Readonly<Record<string, unknown>>)[name];
  if (!allHold(conditions, object, value)) return undefined;
  for (const { metadata, constraint } of checks) {
    const result: unknown = constraint.instance.validate(
      value,
      argumentsOf(metadata, object, value),
    );
    if (!isRefusal(result)) continue;
    const message = messageOf(metadata, constraint, argumentsOf(metadata, object, value));
    return { field: name, message };
  }
  return undefined;
}

/** Evaluates every condition, even after one that is false, as class-validator does. */
function allHold(conditions: readonly RuleMetadata[], object: object, value: unknown): boolean {
  let hold = true;
  for (const { constraints } of conditions) {
    const [condition] = constraints as [(object: object, value: unknown) => unknown];
    if (!condition(object, value)) hold = false;
  }
  return hold;
}

/** Each call of a rule or message gets its own arguments, which it may change. */
function argumentsOf(metadata: RuleMetadata, object: object, value: unknown): ValidationArguments {
  return {
    targetName: object.constructor.name,
    property: metadata.propertyName,
    object,
    value,
    constraints: metadata.constraints,
  };
}

/** Whether a rule rejects the value. Like `validateSync`, this does not wait for promises. */
function isRefusal(result: unknown): boolean {
  if (!isThenable(result)) return !result;
  let refuses = false;
  void result.then((isValid) => {
    if (!isValid) refuses = true;
  });
  return refuses;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  );
}

function problemsByClassValidator(value: object): FieldProblem[] {
  return validateSync(value, { stopAtFirstError: true, forbidUnknownValues: false }).map(
    ({ property, constraints = {} }) => ({
      field: property,
      message: Object.values(constraints).join(' and '),
    }),
  );
}
