import type { FilterField, FilterRelation } from './filter-target.js';

/**
 * A parsed filter (docs/contract/filters.md). Its logic has two values: a condition on a missing value is false, and `not`
 * turns it into true. The parser has written negative operators as `not` of a positive one: `ne` and `is_empty: false`,
 * `not_in`, `has_none`, and `none` of a relation.
 */
export type Filter<C = Condition> = Junction<C> | Negation<C> | Related<C> | C;

/** A filter whose custom fields have no types yet. `withDefinitions` gives them theirs. */
export type UntypedFilter = Filter<Condition | CustomCondition>;

interface Node {
  /** Where it is in the input, such as `filter.or[1].zip.starts_with`. Errors name it. */
  readonly path: string;
}

/** All or any of at least one filter. */
export interface Junction<C = Condition> extends Node {
  readonly kind: 'and' | 'or';
  readonly filters: readonly Filter<C>[];
}

export interface Negation<C = Condition> extends Node {
  readonly kind: 'not';
  readonly filter: Filter<C>;
}

/** A related record exists that matches. */
export interface Related<C = Condition> extends Node {
  readonly kind: 'related';
  readonly relation: FilterRelation;
  readonly filter: Filter<C>;
}

/** The positive operators. */
export type PositiveOperator =
  'eq' | 'in' | 'gt' | 'gte' | 'lt' | 'lte' | 'contains' | 'starts_with' | 'has_any' | 'is_empty';

/** A value of a condition, by the kind of its field: a `Date` of `time`, `YYYY-MM-DD` of `date`. */
export type FilterValue = string | number | boolean | Date;

/**
 * One operator on one field. Its value is
 *
 * - of `in` and `has_any` an array of 1 to 100 values. `has` is `has_any` of one;
 * - of `contains` and `starts_with` a text that is folded (`foldText`), of phones its digits. It is not empty, and is compared
 *   with the same form of the stored text;
 * - of `is_empty` true;
 * - of the others a value. E-mails and phones are as they were given, and compared in their normal form (`normalFormOf`).
 *   Times are whole milliseconds, so that each operator is exact. Numbers can have a fraction and be beyond the range of
 *   an integer column. Texts can be empty, and are not trimmed. Tags are compared in lower case, and are not empty.
 */
export interface Condition extends Node {
  readonly kind: 'condition';
  readonly field: FilterField;
  readonly operator: PositiveOperator;
  readonly value: FilterValue | readonly FilterValue[];
}

/** One operator on a custom field, as it was given. */
export interface CustomCondition extends Node {
  readonly kind: 'custom';
  readonly field: FilterField;
  readonly operator: string;
  readonly given: unknown;
}
