import { setTimeout as sleep } from 'node:timers/promises';
import { CREATED_DOMAIN } from './cases.mjs';

const IDLE_TIMEOUT = 120_000;
const QUIET_CHECKS = 3;

const BUSY = `select count(*)::int as busy from pg_stat_activity
  where datname is not null and pid <> pg_backend_pid()
    and (backend_type = 'autovacuum worker' or state <> 'idle')`;

/** Cancels statements of aborted requests. */
const CANCEL_ABANDONED = `select pg_cancel_backend(pid) from pg_stat_activity
  where backend_type = 'client backend' and pid <> pg_backend_pid() and state = 'active'
    and now() - query_start > interval '500 milliseconds'`;

/** Waits until no statement and no autovacuum worker is active. */
export async function waitUntilIdle(client) {
  const deadline = performance.now() + IDLE_TIMEOUT;
  for (let quiet = 0; quiet < QUIET_CHECKS;) {
    const { rows } = await client.query(BUSY);
    quiet = rows[0].busy === 0 ? quiet + 1 : 0;
    if (quiet === 0) await client.query(CANCEL_ABANDONED);
    if (performance.now() > deadline) throw new Error('the database does not come to rest');
    await sleep(20);
  }
}

const HANDLERS_BEHIND = `select exists (select from event_outbox) or exists (
  select from event_handlers where position < (select last from event_position)) as "isBehind"`;

/** Waits until the handlers of Latitude have received all events, so that they do not run during the next measurement. */
export async function waitForHandlers(client) {
  const deadline = performance.now() + IDLE_TIMEOUT;
  while ((await client.query(HANDLERS_BEHIND)).rows[0].isBehind) {
    if (performance.now() > deadline) throw new Error('the event handlers do not come to an end');
    await sleep(100);
  }
}

/** Names and types of the columns of a table of leads, where the servers differ. */
export const COLUMNS = {
  organization: 'organization_id',
  id: 'id',
  status: 'status',
  idType: 'uuid',
  timeType: 'timestamptz',
};

/** Removes the responses that Latitude stores for requests with an `Idempotency-Key`. */
export const REMOVE_STORED_RESPONSES = 'truncate idempotency_keys';

/** Restores the table of leads after a measurement, so that the next one starts with the same table. */
export class LeadsTable {
  #client;
  #updated;
  #columns;
  #cleanUp;

  /**
   * @param updated the original leads that are updated
   * @param more.columns if they differ from Latitude's table
   * @param more.cleanUp a statement that removes what creations write to other tables
   */
  constructor(client, updated, { columns = COLUMNS, cleanUp } = {}) {
    this.#client = client;
    this.#columns = columns;
    this.#cleanUp = cleanUp;
    this.#updated = JSON.stringify(
      updated.map(({ id, organization_id, status, notes, updated_at }) => {
        return { id, organization_id, status, notes, updated_at };
      }),
    );
  }

  /**
   * @param writes whether leads were `created` or `updated`
   * @returns the number of these leads
   */
  async restore(writes) {
    const { rowCount } =
      writes === 'created' ? await this.#removeCreated() : await this.#restoreUpdated();
    await this.#client.query('vacuum leads');
    await this.#client.query('checkpoint');
    return rowCount;
  }

  async #removeCreated() {
    if (this.#cleanUp) await this.#client.query(this.#cleanUp);
    return this.#client.query(`delete from leads where email like '%@${CREATED_DOMAIN}'`);
  }

  #restoreUpdated() {
    const { organization, id, status, idType, timeType } = this.#columns;
    return this.#client.query(
      `update leads set ${status} = old.status, notes = old.notes, updated_at = old.updated_at
       from json_to_recordset($1) old (id ${idType}, organization_id ${idType}, status text,
         notes text, updated_at ${timeType})
       where leads.${organization} = old.organization_id and leads.${id} = old.id
         and leads.updated_at <> old.updated_at`,
      [this.#updated],
    );
  }
}
