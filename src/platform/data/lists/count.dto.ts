import type { Type } from '@nestjs/common';
import { declareField, PickOf } from '../../fields/field.js';
import { Integer } from '../../fields/kinds/kinds.js';
import { outputField } from '../../fields/kinds/output-kinds.js';
import { IS_TEXT, textRule } from '../../fields/kinds/rules.js';
import { isWellFormedText, NOT_WELL_FORMED } from '../../fields/kinds/text.js';
import { TimeZone } from '../../fields/kinds/time-zone.js';
import { groupingNames, groupingOf, type Groupings } from './grouping.js';
import { Nested, NestedRecords } from '../../fields/nested.js';
import { filterNamesOf, type FiltersOf, type ListQuery } from './list-query.js';

/** What is counted, and how, beside the filters. */
export interface CountParameters {
  readonly by: string;
  readonly time_zone?: string;
}

/**
 * The parameters of counts (docs/contract/counts.md): the filters of a list, and by what its records are counted.
 * @param query the parameters of the list
 */
export function CountQueryOf<Q extends ListQuery>(
  query: Type<Q>,
  groupings: Groupings,
): Type<FiltersOf<Q> & CountParameters> {
  const filters: Type<object> = PickOf(query, filterNamesOf(query));
  class Counted extends filters {
    @CountedBy(groupings) by: string;
    @TimeZone({
      description:
        'Zone of days, weeks and months, an IANA name. Default: the time zone of the organization.',
      example: 'Europe/Vienna',
    })
    time_zone?: string;
  }
  return Counted as Type<FiltersOf<Q> & CountParameters>;
}

function CountedBy(groupings: Groupings): PropertyDecorator {
  const names = groupingNames(groupings);
  const problemOf = (text: string) => {
    if (!isWellFormedText(text)) return NOT_WELL_FORMED;
    return groupingOf(groupings, text) ? undefined : `must be one of ${names.join(', ')}`;
  };
  const isFixed = Object.values(groupings).every(({ per }) => per !== 'key');
  return declareField(
    {
      required: true,
      description: `What the records are counted by${isFixed ? '' : `: ${names.join(', ')}`}.`,
      example: names[0],
    },
    {
      schema: { type: 'string', ...(isFixed && { enum: names }) },
      rules: [IS_TEXT, textRule('isGrouping', problemOf)],
    },
  );
}

function NumberOfRecords(description: string, example: number): PropertyDecorator {
  const max = Number.MAX_SAFE_INTEGER;
  return Integer({ min: 0, max, required: true, description, example });
}

/** The number of records that have a value. */
export class ValueCountDto {
  @outputField(
    { type: ['string', 'number', 'boolean', 'null'] },
    { description: 'The value. Null for records without one.', example: 'new' },
  )
  value: string | number | boolean | null;
  @NumberOfRecords('Number of records with this value.', 12) count: number;
}

/** What is counted beside the values. */
export class CountsMetaDto {
  @NumberOfRecords('Exact number of records, each counted once.', 12) total: number;
  @NumberOfRecords('Sum of the counts of values that are not among the rows.', 0) other: number;
}

/** The numbers of records by value, of one moment. */
export interface Counts {
  readonly data: readonly ValueCountDto[];
  readonly meta: CountsMetaDto;
}

/** Counts as the result of a tool. */
export class CountsDto implements Counts {
  @NestedRecords(ValueCountDto, { description: 'The values, with their counts.' })
  data: readonly ValueCountDto[];
  @Nested(CountsMetaDto, { required: true, description: 'The total, and the rest.' })
  meta: CountsMetaDto;
}
