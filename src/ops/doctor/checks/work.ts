import { type Checks, type Finding, ok, together, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';

/** After this time, work that is due is late. */
const LATE = `interval '10 minutes'`;

const START_AN_INSTANCE = 'Start an instance: only instances do this work.';

/** The background work of instances. */
export const WORK_CHECKS: Checks<DatabaseContext> = {
  jobs: async ({ sql, instances }) => {
    const { failed_jobs, late } = await sql.readOne<{ failed_jobs: number; late: number }>(
      `select count(*) filter (where failed_at is not null)::int as failed_jobs,
         count(*) filter (where failed_at is null and run_at < now() - ${LATE}
           and not exists (select from organizations
             where organizations.id = jobs.organization_id and suspended))::int as late
       from jobs`,
    );
    const problems: Finding[] = [];
    if (failed_jobs > 0) {
      problems.push(
        warning(
          `Jobs that have used all their attempts: ${failed_jobs}.`,
          'latitude jobs list shows their errors, latitude jobs retry runs them again.',
        ),
      );
    }
    if (late > 0) {
      problems.push(
        warning(
          `Jobs that have been due for more than 10 minutes: ${late}.`,
          instances === 0 ? START_AN_INSTANCE : 'Look for "jobs could not be read" in the log.',
        ),
      );
    }
    return together(problems, ok('No job has failed, and none is late.'));
  },

  events: async ({ sql, instances }) => {
    const rows = await sql.read<{ problem: string }>(FIND_LATE_EVENTS);
    const remedy =
      instances === 0
        ? START_AN_INSTANCE
        : 'Look in the log for "events could not be" and "event handlers".';
    return together(
      rows.map(({ problem }) => warning(problem, remedy)),
      ok('All events are published, and their handlers keep up.'),
    );
  },

  imports: (context) =>
    inEachOrganization(context, {
      text: `select count(*)::int as found from lead_imports where organization_id = $1
        and status in ('pending', 'running') and updated_at < now() - ${LATE}`,
      problem: 'Imports that have made no progress for 10 minutes',
      remedy:
        context.instances === 0
          ? START_AN_INSTANCE
          : 'Look at the failed jobs and the log. GET /api/v1/leads/imports shows the imports.',
      whenNone: 'No import is stuck.',
    }),

  webhooks: (context) =>
    inEachOrganization(context, {
      text: `select count(*)::int as found from webhooks where organization_id = $1
        and (disabled_reason is not null or failing_since is not null)`,
      problem: 'Webhooks that fail, or were disabled because they failed',
      remedy:
        'latitude webhooks list --organization ID shows them. Mend the receiver, then: latitude webhooks enable ID --organization ID',
      whenNone: 'All webhooks deliver.',
    }),
};

interface CountedProblem {
  /** A statement that counts problems of the organization `$1`. */
  readonly text: string;
  readonly problem: string;
  readonly remedy: string;
  readonly whenNone: string;
}

/** Counts in tables whose rows are visible to their organization alone. */
async function inEachOrganization(
  { sql }: DatabaseContext,
  { text, problem, remedy, whenNone }: CountedProblem,
): Promise<Finding> {
  const organizations = await sql.read<{ id: string }>('select id from organizations order by id');
  const problems: Finding[] = [];
  for (const { id } of organizations) {
    const [row] = await sql.read<{ found: number }>(text, [id], id);
    if (row && row.found > 0) {
      problems.push(warning(`${problem}, in organization ${id}: ${row.found}.`, remedy));
    }
  }
  return together(problems, ok(whenNone));
}

const FIND_LATE_EVENTS = `
  select format('The oldest event has waited for %s s to be published.',
    extract(epoch from now() - min(created_at))::int) as problem
  from event_outbox having min(created_at) < now() - interval '1 minute'
  union all
  select format('Scheduled events, such as reminders, that are late: %s.', count(*))
  from scheduled_events join organizations on organizations.id = organization_id and not suspended
  where due_at < now() - ${LATE} having count(*) > 0
  union all
  select format('The event handler %s has failed %s times: %s.', name, failures, coalesce(last_error, 'without a message'))
  from event_handlers where failures > 0`;
