import type { BookableResource } from 'latitude/client';
import type { FieldKind, FieldSpec } from '../../forms/kinds.js';
import { MINUTES } from '../../forms/minutes.js';
import { texts } from '../../texts.js';
import { EXCEPTIONS, HOURS } from './hours.js';

const { labels, hints } = texts.resources;

type Name = keyof typeof labels & keyof BookableResource;

const field = (name: Name, kind: FieldKind = 'text'): FieldSpec => ({
  name,
  label: labels[name],
  kind,
});

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** The fields of a resource that people enter. */
export const RESOURCE_FIELDS: readonly FieldSpec[] = [
  { ...field('name'), isRequired: true },
  {
    ...field('time_zone', 'choice'),
    isRequired: true,
    options: ZONES.map((zone) => ({ value: zone, label: zone })),
  },
  { ...field('hours', 'long'), hint: hints.hours, conversion: HOURS },
  { ...field('exceptions', 'long'), hint: hints.exceptions, conversion: EXCEPTIONS },
  { ...field('buffer_before_minutes', 'number'), isRequired: true },
  { ...field('buffer_after_minutes', 'number'), isRequired: true },
  {
    ...field('remind_before_minutes'),
    hint: texts.form.minutesHint,
    conversion: MINUTES,
  },
  { ...field('user_id'), hint: hints.user_id },
  field('active', 'checkbox'),
];
