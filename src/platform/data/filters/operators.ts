import type { PositiveOperator } from './filter.js';
import type { FilterField, FilterKind } from './filter-target.js';

const EQUALITY = ['eq', 'ne', 'in', 'not_in'] as const;
const ORDER = ['gt', 'gte', 'lt', 'lte'] as const;
const SEARCH = ['contains', 'starts_with'] as const;
const SETS = ['has', 'has_any', 'has_none'] as const;

/** The operators of filters (docs/contract/filters.md#operators). */
export const OPERATORS = [...EQUALITY, ...ORDER, ...SEARCH, ...SETS, 'is_empty'] as const;
export type Operator = (typeof OPERATORS)[number];

const OF_COMPARED = [...EQUALITY, 'is_empty'] as const;
const OF_ORDERED = [...EQUALITY, ...ORDER, 'is_empty'] as const;
const OF_SETS = [...SETS, 'is_empty'] as const;

const OF_KINDS: Readonly<Record<FilterKind, readonly Operator[]>> = {
  ...{ text: OF_COMPARED, email: OF_COMPARED, phone: OF_COMPARED, uuid: OF_COMPARED },
  ...{ one_of: OF_COMPARED, flag: OF_COMPARED },
  ...{ number: OF_ORDERED, time: OF_ORDERED, date: OF_ORDERED, json: OF_ORDERED },
  ...{ tags: OF_SETS, options: OF_SETS, object: ['is_empty'], numbers: ['is_empty'] },
};

/** The operators that a field takes. */
export function operatorsOf({ kind, isSearchable }: FilterField): readonly Operator[] {
  return isSearchable ? [...OF_KINDS[kind], ...SEARCH] : OF_KINDS[kind];
}

/** Whether the value of an operator is an array. */
export function takesList(operator: Operator): boolean {
  return ['in', 'not_in', 'has_any', 'has_none'].includes(operator);
}

/** Whether an operator orders values. */
export function isOfOrder(operator: Operator): boolean {
  return (ORDER as readonly Operator[]).includes(operator);
}

/** Whether an operator compares the forms of texts in which searches compare them. */
export function isOfSearch(operator: Operator): boolean {
  return (SEARCH as readonly Operator[]).includes(operator);
}

/** The operators that are written as `not` of a positive one. */
const NEGATIVE: Readonly<Partial<Record<Operator, PositiveOperator>>> = {
  ...{ ne: 'eq', not_in: 'in', has_none: 'has_any' },
};

/** The positive operator that an operator is written as, and whether it is negated. */
export function positiveOf(operator: Operator): [operator: PositiveOperator, isNegated: boolean] {
  const negated = NEGATIVE[operator];
  if (negated) return [negated, true];
  return [operator === 'has' ? 'has_any' : (operator as PositiveOperator), false];
}
