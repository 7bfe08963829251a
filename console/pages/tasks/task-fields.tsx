import type { Task } from 'latitude/client';
import { Time } from '../../components/time.js';
import type { FieldKind, FieldSpec } from '../../forms/kinds.js';
import { texts } from '../../texts.js';

const { labels, values } = texts.tasks;

const choice = (name: keyof typeof labels, options: readonly string[]): FieldSpec => ({
  name,
  label: labels[name],
  kind: 'choice',
  options: options.map((value) => ({ value, label: values[value] ?? value })),
});
const field = (name: keyof typeof labels, kind: FieldKind = 'text'): FieldSpec => ({
  name,
  label: labels[name],
  kind,
});

export const PRIORITY = choice('priority', ['urgent', 'high', 'medium', 'low']);
export const STATUS = choice('status', ['open', 'in_progress', 'completed', 'cancelled']);
export const ASSIGNEE = field('assigned_to_user_id');

/** The fields of a task that people enter. @param withLeads whether the key may read leads, to choose one */
export function taskFields(withLeads: boolean): readonly FieldSpec[] {
  return [
    { ...field('title'), isRequired: true },
    field('description', 'long'),
    { ...PRIORITY, isRequired: true },
    { ...STATUS, isRequired: true },
    field('due_date', 'time'),
    field('contact_id', withLeads ? 'lead' : 'text'),
    ASSIGNEE,
  ];
}

const OPEN: readonly (string | undefined)[] = ['open', 'in_progress'];

/** When a task is due, and whether that has passed while it is open. */
export function DueDate({ task }: { task: Pick<Partial<Task>, 'due_date' | 'status'> }) {
  const { due_date: due, status } = task;
  if (!due) return <>{texts.data.none}</>;
  const isOverdue = OPEN.includes(status) && new Date(due).getTime() < Date.now();
  return (
    <>
      <Time value={due} /> {isOverdue && <strong class="overdue">{texts.tasks.overdue}</strong>}
    </>
  );
}
