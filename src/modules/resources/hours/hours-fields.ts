import { type Declaration, declareField } from '../../../platform/fields/field.js';
import type { JsonSchema } from '../../../platform/fields/schema/json-schema.js';
import { nestedKind } from '../../../platform/fields/nested.js';
import {
  DATE_PATTERN,
  END_PATTERN,
  exceptionsProblems,
  type HoursException,
  hoursProblems,
  MAX_EXCEPTIONS,
  MAX_INTERVALS,
  START_PATTERN,
  WEEKDAYS,
  type WeeklyHours,
} from './hours.js';

const INTERVAL: JsonSchema = {
  type: 'object',
  properties: {
    start: { type: 'string', pattern: START_PATTERN },
    end: { type: 'string', pattern: END_PATTERN },
  },
  required: ['start', 'end'],
  additionalProperties: false,
};

const INTERVALS: JsonSchema = { type: 'array', maxItems: MAX_INTERVALS, items: INTERVAL };

const NO_EXCEPTIONS: readonly HoursException[] = Object.freeze([]);

/** The intervals that begin on each weekday (docs/contract/booking.md#hours). */
export function Hours(declaration: Declaration<WeeklyHours>): PropertyDecorator {
  const schema: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(WEEKDAYS.map((day) => [day, INTERVALS])),
    additionalProperties: false,
  };
  return declareField(declaration, { ...nestedKind(hoursProblems), schema });
}

/** Dates with other hours (docs/contract/booking.md#exceptions). */
export function Exceptions(
  declaration: Omit<Declaration<readonly HoursException[]>, 'default'>,
): PropertyDecorator {
  const exception: JsonSchema = {
    type: 'object',
    properties: { date: { type: 'string', pattern: DATE_PATTERN }, hours: INTERVALS },
    required: ['date', 'hours'],
    additionalProperties: false,
  };
  const schema: JsonSchema = { type: 'array', maxItems: MAX_EXCEPTIONS, items: exception };
  const withDefault = { ...declaration, default: NO_EXCEPTIONS };
  return declareField(withDefault, { ...nestedKind(exceptionsProblems), schema });
}
