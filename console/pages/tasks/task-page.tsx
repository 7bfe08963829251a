import { etagOf, type Task } from 'latitude/client';
import { useState } from 'preact/hooks';
import { ConfirmButton } from '../../components/confirm-button.js';
import { Loaded } from '../../components/loaded.js';
import { Page } from '../../components/page.js';
import { Time } from '../../components/time.js';
import { Timeline } from '../../components/timeline.js';
import { Details } from '../../forms/details.js';
import { announce } from '../../state/announce.js';
import { draftOf } from '../../state/drafts.js';
import { useQuery } from '../../state/query.js';
import { navigate } from '../../state/router.js';
import { useMay, useSignedIn } from '../../state/session.js';
import { texts } from '../../texts.js';
import type { ViewProps } from '../../views.js';
import { DueDate, taskFields } from './task-fields.js';
import { taskDraft, TaskForm } from './task-form.js';

/** A task with who changed it. */
export function TaskPage({ segments }: ViewProps) {
  const [, id = ''] = segments;
  const may = useMay();
  const task = useQuery(`task ${id}`, (client, signal) => client.tasks.get(id, { signal }));
  const [isEditing, setEditing] = useState(draftOf(taskDraft(id)) !== undefined);
  const edit = (on: boolean) => () => {
    setEditing(on);
  };
  const { data } = task;
  const actions = data && may('tasks:write') && !isEditing && (
    <TaskActions task={data} onEdit={edit(true)} />
  );
  return (
    <Page title={data ? data.title : texts.tasks.title} actions={actions}>
      <Loaded of={task}>
        {(shown) => (
          <div class="columns">
            <section class="card">
              {isEditing ? (
                <TaskForm
                  task={shown}
                  onSaved={(saved) => {
                    task.replace(saved);
                    setEditing(false);
                  }}
                  onCancel={edit(false)}
                />
              ) : (
                <TaskDetails task={shown} />
              )}
            </section>
            {may('events:read') && (
              <Timeline
                id={id}
                updatedAt={shown.updated_at}
                read={(client, query, signal) => client.tasks.events(id, query, { signal })}
              />
            )}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function TaskActions({ task, onEdit }: { task: Task; onEdit: () => void }) {
  const { client } = useSignedIn();
  const remove = async () => {
    const tag = etagOf(task);
    await client.tasks.delete(task.id, tag === undefined ? {} : { ifMatch: tag });
    announce(texts.form.deleted);
    navigate('tasks');
  };
  return (
    <>
      <button type="button" class="primary" onClick={onEdit}>
        {texts.form.edit}
      </button>
      <ConfirmButton
        label={texts.form.delete}
        title={texts.tasks.deleteTitle}
        text={texts.tasks.deleteText}
        onConfirm={remove}
      />
    </>
  );
}

const { labels } = texts.tasks;

function TaskDetails({ task }: { task: Task }) {
  const fields = taskFields(true).filter(({ name }) => name !== 'due_date');
  return (
    <>
      <Details fields={fields} record={task} />
      <dl>
        <dt>{labels.due_date}</dt>
        <dd>
          <DueDate task={task} />
        </dd>
        <dt>{labels.created_at}</dt>
        <dd>
          <Time value={task.created_at} />
        </dd>
        <dt>{labels.updated_at}</dt>
        <dd>
          <Time value={task.updated_at} />
        </dd>
        <dt>{texts.tasks.id}</dt>
        <dd>{task.id}</dd>
      </dl>
    </>
  );
}
