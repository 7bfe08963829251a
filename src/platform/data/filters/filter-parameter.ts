import type { FieldProblem } from '../../errors/field-problem.js';
import { declareField } from '../../fields/field.js';
import { problemRule } from '../../fields/kinds/rules.js';
import { parseJsonParameter } from '../../fields/input/strict-json.js';
import type { UntypedFilter } from './filter.js';
import type { FilterTarget } from './filter-target.js';
import {
  MAX_FILTER_BYTES,
  readFilter,
  type ReadFilter,
  readFilterObject,
  scopesOfFilter,
} from './parse-filter.js';

/** A value that was measured and parsed as the text of a parameter. */
class ParsedText {
  constructor(readonly value: unknown) {}
}

/** A filter that cannot be used. */
class InvalidFilter {
  constructor(readonly problems: readonly FieldProblem[]) {}
}

/**
 * Declares the parameter `filter` (docs/contract/filters.md): JSON in a query, an object in the arguments of a tool. Its value
 * is an `UntypedFilter`; undefined without conditions.
 * @param example a filter as JSON, which also shows models the language
 */
export function FilterBy(target: FilterTarget, example: object): PropertyDecorator {
  const scope = { target, hasRelations: true };
  const problemsOf = (value: unknown) => (value instanceof InvalidFilter ? value.problems : []);
  return declareField(
    {
      description: `Conditions, such as ${JSON.stringify(example)}; errors list fields and operators.`,
      example,
    },
    {
      schema: { type: 'object', additionalProperties: true },
      rules: [problemRule('isFilter', (value) => problemsOf(value)[0]?.message)],
      maxSentBytes: MAX_FILTER_BYTES,
      fromText: (text) => {
        const { value, problems } = parseJsonParameter(text, 'filter');
        return problems.length > 0 ? new InvalidFilter(problems) : new ParsedText(value);
      },
      normalize: (value) => {
        if (value === undefined || value === null || value instanceof InvalidFilter) return value;
        if (value instanceof ParsedText) return usable(readFilter(value.value, scope));
        return usable(readFilterObject(value, scope));
      },
      nested: (value) => [...problemsOf(value)],
      scopesOf: (value) => scopesOfFilter(value as UntypedFilter),
    },
  );
}

function usable({ filter, problems }: ReadFilter): UntypedFilter | InvalidFilter | undefined {
  return problems.length > 0 ? new InvalidFilter(problems) : filter;
}
