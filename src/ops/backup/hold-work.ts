import type pg from 'pg';
import type { DisabledReason } from '../../modules/webhooks/webhook.dto.js';
import { DELIVER } from '../../modules/webhooks/deliveries.service.js';
import { IMPORT_LEADS } from '../../modules/leads/transfer/lead-imports.service.js';
import { NEXT_UPDATED_AT } from '../../platform/data/records/record-sql.js';
import type { StoredTable } from './catalogue.js';

/** What a restore has held back, and how each continues. */
export interface HeldWork {
  readonly webhooks_paused: readonly Held[];
  readonly imports_cancelled: readonly Held[];
  /** The jobs of extensions that were waiting, by name. */
  readonly jobs_held: readonly Held[];
}

type Held = Readonly<Record<string, unknown>> & { readonly resume: string };

const REASON: DisabledReason = 'restored';

const IMPORT_ERROR = 'A backup of it was restored. Import its file again.';

/** Jobs that have no effect while webhooks are paused and after imports were cancelled. */
const OWN_JOBS = [DELIVER.name, IMPORT_LEADS.name];

const PAUSE_WEBHOOKS = `
  update webhooks set enabled = false, disabled_reason = '${REASON}', updated_at = ${NEXT_UPDATED_AT}
  where enabled returning organization_id, id, url,
    format('latitude webhooks enable --organization %s %s', organization_id, id) as resume`;

const CANCEL_IMPORTS = `
  update lead_imports set status = 'cancelled', error = $1, ended_at = ${NEXT_UPDATED_AT},
    updated_at = ${NEXT_UPDATED_AT}, leased_until = null
  where status in ('pending', 'running')
  returning organization_id, id, 'import its file again' as resume`;

/** They are failed jobs until a command lets them run. */
const HOLD_JOBS = `
  with held as (
    update jobs set failed_at = now(), is_running = false, run_again_at = null, last_error = 'Restored'
    where failed_at is null and name <> all($1) returning name)
  select name, count(*)::int as jobs, 'latitude jobs retry --name ' || name as resume
  from held group by name order by name`;

const KEEP_SCHEDULES = `insert into job_schedules (name, next_run_at)
  select * from unnest($1::text[], $2::timestamptz[])`;

/**
 * Holds back what a copy of a database would do a second time: deliveries of webhooks, imports, jobs of extensions, and
 * scheduled runs that were missed since the backup. Call it in the transaction that restores the
 * rows and before it restores them, because a server may run on the database. The backup can be of an older schema, which
 * lacks some of the tables.
 * @returns function to call after the rows are restored
 */
export async function holdWork(
  client: pg.Client,
  tables: readonly StoredTable[],
): Promise<() => Promise<HeldWork>> {
  const has = (table: string) => tables.some(({ name }) => name === table);
  const run = async <Row>(table: string, text: string, ...values: unknown[]): Promise<Row[]> =>
    has(table) ? ((await client.query(text, values)).rows as Row[]) : [];
  // The schedules of a running server are kept. A server that starts later registers its own.
  const schedules = await run<{ name: string; next_run_at: string }>(
    'job_schedules',
    'select name, next_run_at::text from job_schedules',
  );
  return async () => {
    const names = schedules.map(({ name }) => name);
    const times = schedules.map(({ next_run_at }) => next_run_at);
    await run('job_schedules', 'delete from job_schedules');
    await run('job_schedules', KEEP_SCHEDULES, names, times);
    const webhooks = await run<Held>('webhooks', PAUSE_WEBHOOKS);
    const imports = await run<Held>('lead_imports', CANCEL_IMPORTS, IMPORT_ERROR);
    await run('lead_import_chunks', 'delete from lead_import_chunks');
    const jobs = await run<Held>('jobs', HOLD_JOBS, OWN_JOBS);
    return { webhooks_paused: webhooks, imports_cancelled: imports, jobs_held: jobs };
  };
}
