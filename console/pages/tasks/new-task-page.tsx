import { Page } from '../../components/page.js';
import { navigate, useRoute } from '../../state/router.js';
import { texts } from '../../texts.js';
import { TaskForm } from './task-form.js';

/** A new task. The address can name its lead. */
export function NewTaskPage() {
  const { query } = useRoute();
  return (
    <Page title={texts.tasks.create}>
      <div class="narrow">
        <TaskForm
          contactId={query.get('contact_id') ?? undefined}
          onSaved={({ id }) => {
            navigate(`tasks/${id}`);
          }}
          onCancel={() => {
            navigate('tasks');
          }}
        />
      </div>
    </Page>
  );
}
