import type { FieldProblem } from '../../errors/field-problem.js';
import type { Condition, Filter } from './filter.js';
import type { FilterTarget } from './filter-target.js';

const NO_INDEX = 'is a condition that no index serves';
const NOT_FILTERABLE = `${NO_INDEX}; make the custom field filterable`;

/** Whether an index finds the records that match a condition. */
export function isServed({ field, operator }: Condition, { indexed }: FilterTarget): boolean {
  if (operator === 'is_empty' || operator === 'contains' || operator === 'starts_with')
    return false;
  return field.key === undefined ? indexed.includes(field.name) : field.definitionId !== undefined;
}

/** The conditions of a filter that no index serves. */
export function unservedIn(filter: Filter, target: FilterTarget): FieldProblem[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.flatMap((each) => unservedIn(each, target));
    case 'not':
      // An index finds records that match, and not the others.
      return [{ field: filter.path, message: NO_INDEX }];
    case 'related':
      return unservedIn(filter.filter, filter.relation.target);
    case 'condition': {
      if (isServed(filter, target)) return [];
      const isCustom = filter.field.key !== undefined;
      return [{ field: filter.path, message: isCustom ? NOT_FILTERABLE : NO_INDEX }];
    }
  }
}
