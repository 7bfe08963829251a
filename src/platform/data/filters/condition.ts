import { dateTimeProblem, parseDateTime } from '../../fields/kinds/date-time.js';
import { isWellFormedText, NOT_WELL_FORMED } from '../../fields/kinds/text.js';
import { UUID } from '../../fields/kinds/uuid.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import type { Condition, FilterValue, Negation } from './filter.js';
import type { FilterField } from './filter-target.js';
import { searchFormOf } from './forms.js';
import {
  isOfOrder,
  isOfSearch,
  type Operator,
  operatorsOf,
  positiveOf,
  takesList,
} from './operators.js';

/** The most values of `in` and its kind. */
const MAX_VALUES = 100;

/** A value that a field cannot be compared with. */
class Refusal {
  constructor(
    readonly message: string,
    /** Of an item of a list. */
    readonly index?: number,
  ) {}
}

/**
 * Reads one operator of a field.
 * @param problems to which it adds what is wrong
 * @returns undefined if something is
 */
export function readCondition(
  field: FilterField,
  operator: string,
  given: unknown,
  path: string,
  problems: FieldProblem[],
): Condition | Negation | undefined {
  // A missing value has one meaning for every field, in whichever way it is asked for.
  if (given === null && operator === 'eq') return isEmpty(field, true, path);
  if (given === null && operator === 'ne') return isEmpty(field, false, path);
  const operators = operatorsOf(field);
  if (!isOneOf(operators, operator)) {
    const message = `is no operator of ${field.name}; its operators are ${operators.join(', ')}`;
    problems.push({ field: path, message });
    return undefined;
  }
  if (operator === 'is_empty') {
    if (typeof given === 'boolean') return isEmpty(field, given, path);
    problems.push({ field: path, message: 'must be true or false' });
    return undefined;
  }
  const value = readOperand(field, operator, given);
  if (value instanceof Refusal) {
    const { message, index } = value;
    problems.push({ field: index === undefined ? path : `${path}[${index}]`, message });
    return undefined;
  }
  const [positive, isNegated] = positiveOf(operator);
  const condition: Condition = { kind: 'condition', field, operator: positive, value, path };
  return isNegated ? { kind: 'not', filter: condition, path } : condition;
}

function isEmpty(field: FilterField, isTrue: boolean, path: string): Condition | Negation {
  const condition = { kind: 'condition', field, operator: 'is_empty', value: true, path } as const;
  return isTrue ? condition : { kind: 'not', filter: condition, path };
}

function readOperand(
  field: FilterField,
  operator: Operator,
  given: unknown,
): Condition['value'] | Refusal {
  if (!takesList(operator)) {
    const value = readValue(field, operator, given);
    if (value instanceof Refusal) return value;
    return operator === 'has' ? [value] : value;
  }
  if (!Array.isArray(given)) return new Refusal('must be an array of values');
  if (given.length === 0) return new Refusal('must have at least one value');
  if (given.length > MAX_VALUES) return new Refusal(`must have at most ${MAX_VALUES} values`);
  const values: FilterValue[] = [];
  for (const [index, each] of given.entries()) {
    const value = readValue(field, operator, each);
    if (value instanceof Refusal) return new Refusal(value.message, index);
    values.push(value);
  }
  return values;
}

function readValue(field: FilterField, operator: Operator, given: unknown): FilterValue | Refusal {
  const { kind, values = [] } = field;
  switch (kind) {
    case 'flag':
      return typeof given === 'boolean' ? given : new Refusal('must be true or false');
    case 'number':
      return typeof given === 'number' ? given : new Refusal('must be a number');
    case 'one_of':
    case 'options':
      return isOneOf(values, given) ? given : new Refusal(`must be one of ${values.join(', ')}`);
    case 'json':
      return readJson(operator, given);
    default:
  }
  const text = readText(given);
  if (text instanceof Refusal) return text;
  switch (kind) {
    case 'uuid':
      return UUID.test(text) ? text.toLowerCase() : new Refusal('must be a UUID');
    case 'time':
      return readTime(operator, text);
    case 'date':
      return readDate(text);
    case 'tags':
      return text === '' ? new Refusal('must not be empty') : text;
    default:
      return isOfSearch(operator) ? readTerm(field, text) : text;
  }
}

function isOneOf<T extends string>(values: readonly T[], given: unknown): given is T {
  return (values as readonly unknown[]).includes(given);
}

function readText(given: unknown): string | Refusal {
  if (typeof given !== 'string') {
    return new Refusal(
      Array.isArray(given) ? 'must be a string; a list needs in' : 'must be a string',
    );
  }
  return isWellFormedText(given) ? given : new Refusal(NOT_WELL_FORMED);
}

/** A value of a custom field without a definition. Only numbers have an order. */
function readJson(operator: Operator, given: unknown): FilterValue | Refusal {
  if (typeof given === 'number') return given;
  if (isOfOrder(operator)) return new Refusal('must be a number');
  if (typeof given === 'boolean') return given;
  return typeof given === 'string'
    ? readText(given)
    : new Refusal('must be a string, a number, or true or false');
}

/** Rounds a fraction of a millisecond, of which records have none, so that each operator is exact. */
function readTime(operator: Operator, text: string): Date | Refusal {
  const rounding = operator === 'gte' || operator === 'lt' ? 'up' : 'down';
  return parseDateTime(text, rounding) ?? new Refusal(dateTimeProblem(text));
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

function readDate(text: string): string | Refusal {
  const isDate = DATE.test(text) && parseDateTime(text, 'down') !== undefined;
  return isDate ? text : new Refusal('must be a date such as 2026-01-31');
}

function readTerm(field: FilterField, text: string): string | Refusal {
  const term = searchFormOf(field, text);
  if (term !== '') return term;
  return new Refusal(field.kind === 'phone' ? 'must have a digit' : 'must not be empty');
}
