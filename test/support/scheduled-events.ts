import type { TestServer, Tenant } from '../../src/testing/test-server.js';

/** Lets a task become overdue, as if the time until then had passed. */
export async function becomeOverdue(
  server: TestServer,
  { id }: Pick<Tenant, 'id'>,
  taskId: string,
): Promise<void> {
  await server.sql(
    `with task as (
       update tasks set due_date = date_trunc('milliseconds', now() - interval '1 second')
       where organization_id = $1 and id = $2 returning *)
     insert into scheduled_events (organization_id, record_id, type, due_at)
     select organization_id, id, 'task.overdue', due_date from task`,
    [id, taskId],
  );
}
