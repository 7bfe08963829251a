import { LEAD, LIST_ITEM } from '../lib/lead-server.mjs';

const BATCH = 5_000;
const OWN_TIMES = ['created_at', 'updated_at'];

/** Columns of a list. */
export const LISTED = LIST_ITEM;

/** Columns that a search covers. */
export const SEARCHED = ['first_name', 'last_name', 'email', 'phone'];

/**
 * Copies the leads of Latitude's database to another database.
 * @param insert a statement whose `$1` is a JSON array of leads
 */
export async function copyLeads(owner, client, insert) {
  const columns = ['organization_id', ...LEAD];
  for (let after = '00000000-0000-0000-0000-000000000000'; ;) {
    const { rows } = await owner.query(
      `select json_agg(page)::text as json, max(id::text) as last from (
         select ${columns} from leads where id > $1 order by id limit ${BATCH}) page`,
      [after],
    );
    const [{ json, last }] = rows;
    if (json === null) break;
    await client.query(insert, [json]);
    after = last;
  }
  await client.query('vacuum analyze leads');
}

/** @returns the part of a response that peers have in common: no times of their own, no generated ids */
export function comparableFields({ data, meta }, { type }) {
  const record = (lead) =>
    Object.fromEntries(
      Object.entries(lead).filter(
        ([name]) => !OWN_TIMES.includes(name) && !(type === 'create' && name === 'id'),
      ),
    );
  if (type === 'list') return { data: data.map(record), total: meta.total };
  return { data: record(data) };
}
