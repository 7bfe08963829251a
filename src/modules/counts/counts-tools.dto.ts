import { declareField } from '../../platform/fields/field.js';
import { isObject } from '../../platform/fields/kinds/json-object.js';
import { Text } from '../../platform/fields/kinds/kinds.js';
import { rule } from '../../platform/fields/kinds/rules.js';
import { TimeZone } from '../../platform/fields/kinds/time-zone.js';
import { groupingNames } from '../../platform/data/lists/grouping.js';
import { APPOINTMENT_GROUPINGS } from '../appointments/appointment.dto.js';
import { LEAD_GROUPINGS } from '../leads/lead.dto.js';
import { TASK_GROUPINGS } from '../tasks/task.dto.js';

const GROUPINGS = {
  lead: LEAD_GROUPINGS,
  appointment: APPOINTMENT_GROUPINGS,
  task: TASK_GROUPINGS,
};

/** The kinds of records that are counted. */
export type CountedKind = keyof typeof GROUPINGS;

const KINDS: readonly unknown[] = Object.keys(GROUPINGS);

/** The kind of the records, whose read scope the key needs. */
function Kind(): PropertyDecorator {
  return declareField(
    { required: true, description: 'What to count.', example: 'lead' },
    {
      schema: { type: 'string', enum: KINDS },
      rules: [rule('isKind', (kind) => KINDS.includes(kind), `must be one of ${KINDS.join(', ')}`)],
      scopesOf: (kind) => (KINDS.includes(kind) ? [`${kind as CountedKind}s:read`] : []),
    },
  );
}

/** The filter, which is read as that of the counts of the records. */
function Filter(): PropertyDecorator {
  return declareField(
    { description: 'Conditions, as in the list tool of the records.', example: { status: 'new' } },
    {
      schema: { type: 'object', additionalProperties: true },
      rules: [rule('isObject', isObject, 'must be an object')],
    },
  );
}

const NAMES = Object.entries(GROUPINGS).map(([kind, groupings]) => {
  return `${kind}s by ${groupingNames(groupings).join(', ')}`;
});

/** The arguments of `count_records`. */
export class CountRecordsDto {
  @Kind() record: CountedKind;
  @Text({ max: 120, required: true, description: `Counts ${NAMES.join('; ')}.`, example: 'status' })
  by: string;
  @Filter() filter?: object;
  @TimeZone({
    description: 'IANA zone of days; default that of the organization.',
    example: 'Europe/Vienna',
  })
  time_zone?: string;
}
