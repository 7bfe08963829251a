import type { Task, TaskCreate } from 'latitude/client';
import { RecordForm } from '../../forms/record-form.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { taskFields } from './task-fields.js';

interface TaskFormProps {
  /** Without it, a task is created. */
  readonly task?: Task;
  /** The lead of a new task. */
  readonly contactId?: string | undefined;
  readonly onSaved: (task: Task) => void;
  readonly onCancel: () => void;
}

/** Creates or changes a task. */
export function TaskForm({ task, contactId, onSaved, onCancel }: TaskFormProps) {
  const { tasks } = useSignedIn().client;
  const fields = taskFields(useMay()('leads:read'));
  const id = task?.id ?? '';
  return (
    <RecordForm<Task>
      name={task ? taskDraft(task.id) : 'tasks/new'}
      fields={fields}
      initial={{ priority: 'medium', status: 'open', contact_id: contactId }}
      record={task}
      create={(body, idempotencyKey) =>
        tasks.create(body as unknown as TaskCreate, { idempotencyKey })
      }
      update={(body, ifMatch) => tasks.update(id, body, { ifMatch })}
      read={() => tasks.get(id)}
      onSaved={onSaved}
      onCancel={onCancel}
    />
  );
}

export const taskDraft = (id: string) => `tasks/${id}`;
