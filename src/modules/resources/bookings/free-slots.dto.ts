import { type Declaration, declareField } from '../../../platform/fields/field.js';
import { dateTimeProblem, parseDateTime } from '../../../platform/fields/kinds/date-time.js';
import { Flag, Integer, Uuids } from '../../../platform/fields/kinds/kinds.js';
import { outputField } from '../../../platform/fields/kinds/output-kinds.js';
import { textRule } from '../../../platform/fields/kinds/rules.js';
import { trimText } from '../../../platform/fields/kinds/text.js';
import { localTimesOf } from '../hours/local-time.js';
import { MAX_RESOURCES } from './any-of.js';
import { DURATION, STEP } from './availability.dto.js';

/** A date has no offset. */
const HAS_OFFSET = /T.*(?:Z|[+-]\d\d(?::?\d\d)?)$/i;

/** A time in ISO 8601, as text, because without an offset it is another moment in each time zone. */
function ZonedTime(declaration: Declaration<string>): PropertyDecorator {
  const problemOf = (text: string) =>
    parseDateTime(text, 'down') ? undefined : dateTimeProblem(text);
  return declareField(declaration, {
    schema: { type: 'string' },
    rules: [textRule('isZonedTime', problemOf)],
    normalize: (value) => (typeof value === 'string' ? trimText(value) : value),
  });
}

/** The moment of a valid time in a time zone, if the time has no offset. */
export function momentIn(zone: string, time: string): number {
  const utc = parseDateTime(time, 'down')?.getTime() ?? NaN;
  return HAS_OFFSET.test(time) ? utc : localTimesOf(zone).toUtc(utc);
}

/** The arguments of `find_free_slots` (docs/contract/mcp.md#bookings). */
export class FreeSlotsQuery {
  @Integer(DURATION) duration_minutes: number;
  @ZonedTime({
    description:
      'Earliest start, by default now: ISO 8601, without an offset in the time zone of each resource.',
    example: '2026-03-05T12:00',
  })
  from?: string;
  @ZonedTime({
    description: 'Latest end, as from; by default 7 days after it.',
    example: '2026-03-05T18:00',
  })
  to?: string;
  @Uuids({
    max: MAX_RESOURCES,
    description: 'Only these resources; by default all that are active.',
    example: ['01a1fbdd-6f0a-7c3e-9b52-5d8e1f7a2c64'],
  })
  any_of?: readonly string[];
  @Integer(STEP) step_minutes: number;
}

/** The result of `find_free_slots`. */
export class FoundSlotsDto {
  @outputField(
    { type: 'array', items: { type: 'object' } },
    { description: 'The resources that are free, with their slots.', example: [] },
  )
  resources: readonly object[];
  @Flag({ required: true, description: 'Whether there are later slots.', example: false })
  has_more: boolean;
}
