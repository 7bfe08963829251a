import { setTimeout as sleep } from 'node:timers/promises';
import { CREATED_DOMAIN } from './scenarios.mjs';

const IDLE_TIMEOUT = 60_000;
const QUIET_CHECKS = 3;

const BUSY = `select count(*)::int as busy from pg_stat_activity
  where datname is not null and pid <> pg_backend_pid()
    and (backend_type = 'autovacuum worker' or state <> 'idle')`;

/** Waits until nothing runs that a measurement would share the machine with. */
export async function untilIdle(client) {
  const deadline = performance.now() + IDLE_TIMEOUT;
  for (let quiet = 0; quiet < QUIET_CHECKS;) {
    const { rows } = await client.query(BUSY);
    quiet = rows[0].busy === 0 ? quiet + 1 : 0;
    if (performance.now() > deadline) throw new Error('the database does not come to rest');
    await sleep(20);
  }
}

/**
 * Removes what was created, so that the next measurement finds the table as this one did.
 * @returns how many leads that were
 */
export async function removeCreated(client) {
  const { rowCount } = await client.query(
    `delete from leads where email_compared like '%@${CREATED_DOMAIN}'`,
  );
  await client.query('vacuum leads');
  await client.query('checkpoint');
  return rowCount;
}
