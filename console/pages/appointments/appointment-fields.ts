import type { Appointment } from 'latitude/client';
import type { FieldKind, FieldSpec } from '../../forms/kinds.js';
import { MINUTES } from '../../forms/minutes.js';
import { useQuery } from '../../state/query.js';
import { texts } from '../../texts.js';

const { labels, statuses } = texts.appointments;

type Name = keyof typeof labels & keyof Appointment;

const field = (name: Name, kind: FieldKind = 'text'): FieldSpec => ({
  name,
  label: labels[name],
  kind,
});

export const STATUS: FieldSpec = {
  ...field('status', 'choice'),
  isRequired: true,
  options: Object.entries(statuses).map(([value, label]) => ({ value, label })),
};

const OUTCOME: readonly FieldSpec[] = [
  STATUS,
  field('outcome'),
  field('outcome_notes', 'long'),
  { ...field('remind_before_minutes'), conversion: MINUTES, hint: texts.form.minutesHint },
];

const MAX_RESOURCES = 100;

/** Whose time it takes. The first resources can be chosen. */
export function useResourceField(): FieldSpec {
  const { data } = useQuery('resources to choose from', (client, signal) =>
    client.resources.list({ limit: MAX_RESOURCES }, { signal }),
  );
  const options = (data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return { ...field('resource_id', 'choice'), options };
}

/** When it is and whose time it takes, and what it is about. */
export function useBookingFields(): readonly FieldSpec[] {
  const resource = useResourceField();
  return [
    { ...field('start_time', 'time'), isRequired: true },
    { ...field('end_time', 'time'), isRequired: true },
    resource,
    field('type'),
    field('location'),
    field('notes', 'long'),
  ];
}

export const LEAD_FIELD: FieldSpec = { ...field('lead_id', 'lead'), isRequired: true };

/** The fields of an appointment that people change. */
export const useAppointmentFields = () => [...useBookingFields(), ...OUTCOME];
