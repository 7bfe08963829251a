import { validationError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { readCondition } from './condition.js';
import type { Filter, UntypedFilter } from './filter.js';
import type { FilterField } from './filter-target.js';

/** The custom fields that an organization has defined, by their keys. */
export type DefinedFields = ReadonlyMap<string, FilterField>;

export const NO_DEFINITIONS: DefinedFields = new Map();

/** A filter whose conditions all have types, and what is wrong with it. */
export interface TypedFilter {
  /** Undefined if there are problems. */
  readonly filter?: Filter;
  readonly problems: readonly FieldProblem[];
}

/** Reads the conditions of a filter on custom fields: those that are defined by their types, others as values of JSON. */
export function typeFilter(untyped: UntypedFilter, defined: DefinedFields): TypedFilter {
  const problems: FieldProblem[] = [];
  const filter = typedFilter(untyped, defined, problems);
  return { ...(problems.length === 0 && { filter }), problems };
}

/**
 * Like `typeFilter`, of a filter that must be valid.
 * @throws ApiError `validation_error` that names the path of each invalid condition
 */
export function withDefinitions(untyped: UntypedFilter, defined: DefinedFields): Filter {
  const { filter, problems } = typeFilter(untyped, defined);
  if (filter) return filter;
  throw validationError(problems);
}

/** @returns undefined if the filter has a problem */
function typedFilter(
  filter: UntypedFilter,
  defined: DefinedFields,
  problems: FieldProblem[],
): Filter | undefined {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const filters = filter.filters.flatMap((each) => typedFilter(each, defined, problems) ?? []);
      return { ...filter, filters };
    }
    case 'not':
    case 'related': {
      const inner = typedFilter(filter.filter, defined, problems);
      return inner && { ...filter, filter: inner };
    }
    case 'custom': {
      const { field, operator, given, path } = filter;
      const known = defined.get(field.key ?? '') ?? field;
      return readCondition(known, operator, given, path, problems);
    }
    default:
      return filter;
  }
}
