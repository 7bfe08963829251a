import { applyDecorators, type Type } from '@nestjs/common';
import { fieldLabel } from '../../errors/field-problem.js';
import { declareField, FurtherRule, namesOf } from '../../fields/field.js';
import { DateTime, Integer, OneOf } from '../../fields/kinds/kinds.js';
import { problemRule, textRule } from '../../fields/kinds/rules.js';
import { trimText } from '../../fields/kinds/text.js';
import { parseCursor } from './cursor.js';

export const SORT_DIRECTIONS = ['asc', 'desc'] as const;

export const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 50;

/** The offset of a later page would exceed the integers that a number holds exactly. */
const MAX_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / MAX_LIMIT);

/** The query parameters of every list (docs/contract/lists.md#paging). */
export class ListQuery {
  @WithCursor('cannot be given')
  @Integer({
    min: 1,
    max: MAX_PAGE,
    default: 1,
    description: 'Number of the page. One past the last is empty.',
    example: 1,
  })
  page: number;

  @Integer({
    min: 1,
    max: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'Most records on a page.',
    example: DEFAULT_LIMIT,
  })
  limit: number;

  @WithCursor('must be asc', 'asc', ['after'])
  @WithCursor('must be desc', 'desc', ['before'])
  @OneOf(SORT_DIRECTIONS, {
    default: 'desc',
    description:
      'Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.',
    example: 'desc',
  })
  sort_dir: (typeof SORT_DIRECTIONS)[number];
}

/** The parameters of lists that select no records. */
const NO_FILTERS = [
  ...namesOf(ListQuery),
  'sort_by',
  'after',
  'before',
  'fields',
  'include',
  'deleted',
] as const;

/** What a list selects, without its order and paging. */
export type FiltersOf<Q> = Omit<
  Q,
  keyof ListQuery | 'sort_by' | 'after' | 'before' | 'fields' | 'include' | 'deleted'
>;

/** The names of the filters of a list. @param query the parameters of the list */
export function filterNamesOf<Q extends object>(
  query: Type<Q>,
): readonly (keyof FiltersOf<Q> & keyof Q & string)[] {
  const names = namesOf(query).filter((name) => !NO_FILTERS.includes(name));
  return names as (keyof FiltersOf<Q> & keyof Q & string)[];
}

/** Declares the parameter that selects the field of the order. */
export function SortBy<T extends string>(fields: readonly T[], fallback: T) {
  const description = 'Field by which the list is ordered.';
  return applyDecorators(
    OneOf(fields, { default: fallback, description, example: fallback }),
    WithCursor('must be created_at', 'created_at'),
  );
}

/** The parameters that read a list by cursor. */
export interface CursorParameters {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

export function isByCursor({ after, before }: CursorParameters): boolean {
  return after !== undefined || before !== undefined;
}

/** Declares the parameter that reads a list by cursor. Empty, it begins with the oldest record. */
export function After(): PropertyDecorator {
  return declareCursor('in the order of creation and without totals: only records after this one');
}

/** Declares the parameter that reads a list by cursor, newest first. Empty, it begins with the newest record. */
export function Before(): PropertyDecorator {
  const description = 'like `after`, but the newest first: only records before this one';
  return applyDecorators(
    declareCursor(description),
    FurtherRule(
      problemRule('isWithoutAfter', (_, { after }) =>
        after === undefined ? undefined : 'cannot be given together with after',
      ),
    ),
  );
}

/** @param order says which records a page has */
function declareCursor(order: string): PropertyDecorator {
  return declareField(
    {
      description: `Reads the list by cursor, ${order}. Empty at first, then \`meta.next\` of the previous page.`,
      example: '',
      isAlternative: true,
    },
    {
      schema: { type: 'string', maxLength: 100 },
      rules: [textRule('isCursor', cursorProblem)],
      normalize: (value) => (typeof value === 'string' ? trimText(value) : value),
      takesEmpty: true,
    },
  );
}

/**
 * Declares the parameter that selects the fields of the items. Its value is the array of their names.
 * @param record the DTO with all fields
 */
export function ItemFields(record: Type<object>): PropertyDecorator {
  const known = namesOf(record);
  const problemOf = (names: unknown) => {
    const unknown = (names as readonly string[]).find((name) => !known.includes(name));
    if (unknown === undefined) return undefined;
    const all = `* or some of ${known.join(', ')}, separated by commas`;
    return `must be ${all}; there is no ${fieldLabel(unknown, 'empty name')}`;
  };
  return declareField(
    {
      description:
        'Fields of the items, separated by commas, or `*` for all. `id` is always one of them.',
      example: 'created_at,updated_at',
    },
    {
      schema: { type: 'string' },
      rules: [problemRule('areFields', problemOf)],
      normalize: (value) => (typeof value === 'string' ? namesIn(value, known) : value),
    },
  );
}

/** Declares a filter by a time. A fraction of a millisecond is rounded up, which keeps half-open ranges exact. */
export function TimeFilter(description: string, example: string): PropertyDecorator {
  return DateTime({ rounding: 'up', description, example });
}

/** Declares the filter `updated_after`. @param records such as `leads` */
export function UpdatedAfter(records: string): PropertyDecorator {
  return TimeFilter(`Only ${records} changed at this time or later.`, '2026-01-01T00:00:00Z');
}

/** Declares the filter `updated_before`. @param records such as `leads` */
export function UpdatedBefore(records: string): PropertyDecorator {
  return TimeFilter(`Only ${records} changed last before this time.`, '2026-02-01T00:00:00Z');
}

function namesIn(text: string, known: readonly string[]): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  return names.length === 1 && names[0] === '*' ? known : [...new Set(['id', ...names])];
}

/**
 * Refuses a parameter if the list is read by cursor, unless it has the only value that is then possible.
 * @param cursors the parameters of the cursor with which it is refused
 */
function WithCursor(
  problem: string,
  possible?: string,
  cursors: readonly (keyof CursorParameters)[] = ['after', 'before'],
): PropertyDecorator {
  return FurtherRule(
    problemRule(`isWith${cursors.join('Or')}`, (value, query: CursorParameters) => {
      const cursor = cursors.find((name) => query[name] !== undefined);
      return cursor === undefined || value === possible
        ? undefined
        : `${problem} together with ${cursor}`;
    }),
  );
}

function cursorProblem(text: string): string | undefined {
  const isCursor = text === '' || parseCursor(text) !== undefined;
  return isCursor ? undefined : 'must be empty or meta.next of a page';
}
