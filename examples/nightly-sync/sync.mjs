import pg from 'pg';
import { LatitudeClient } from 'latitude-client';

const { LATITUDE_URL, LATITUDE_KEY } = process.env;
const client = new LatitudeClient({ baseUrl: LATITUDE_URL, apiKey: LATITUDE_KEY });
/** The database of the copy, as PGHOST, PGDATABASE, PGUSER and PGPASSWORD say. */
const copy = new pg.Client();

/** Continues where the last run has stopped. Each page is stored together with its state. */
async function sync() {
  const { rows } = await copy.query('select state from sync_state');
  let pages = 0;
  for await (const { changed, deleted, state } of client.leads.sync(rows[0]?.state)) {
    await copy.query('begin');
    await copy.query('delete from leads where id = any($1::uuid[])', [deleted]);
    await copy.query(
      `insert into leads select (lead ->> 'id')::uuid, lead from jsonb_array_elements($1::jsonb) lead
       on conflict (id) do update set lead = excluded.lead`,
      [JSON.stringify(changed)],
    );
    await copy.query('delete from sync_state');
    await copy.query('insert into sync_state values ($1)', [state]);
    await copy.query('commit');
    pages += 1;
  }
  return pages;
}

await copy.connect();
try {
  await copy.query('create table if not exists leads (id uuid primary key, lead jsonb not null)');
  await copy.query('create table if not exists sync_state (state jsonb not null)');
  const pages = await sync().catch(async (error) => {
    if (error.code !== 'cursor_expired') throw error;
    // The last run was too long ago. Read everything again.
    await copy.query('truncate leads, sync_state');
    return sync();
  });
  const { rows } = await copy.query('select count(*)::int as leads from leads');
  console.log(`${pages} pages, ${rows[0].leads} leads`);
} finally {
  await copy.end();
}
