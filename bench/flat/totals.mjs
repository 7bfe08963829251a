import assert from 'node:assert/strict';

const NOT_DELETED = {
  leads: 'deleted_at is null',
  appointments: 'true',
  tasks: 'deleted_at is null',
};

/** SQL conditions of the parameters of lists. */
const CONDITIONS = {
  status: 'status = ?',
  temperature: 'temperature = ?',
  source: 'source = ?',
  tag: '? = any(tags)',
  priority: 'priority = ?',
  updated_after: 'updated_at >= ?',
  updated_before: 'updated_at < ?',
  search: `search_text like '%' || lower(?) || '%'`,
  created_after: 'created_at >= ?',
  created_before: 'created_at < ?',
  lead_id: 'lead_id = ?',
  start_after: 'start_time >= ?',
  start_before: 'start_time < ?',
  assigned_to: 'assigned_to_user_id = ?',
  contact_id: 'contact_id = ?',
  due_before: 'due_date < ?',
};

/** @returns the number of records of a list, counted with SQL */
export async function countRecords(client, { organization, resource, ...parameters }) {
  const values = [organization.id];
  const clauses = Object.entries(parameters)
    .filter(([name]) => name in CONDITIONS)
    .map(([name, value]) => CONDITIONS[name].replace('?', `$${values.push(value)}`));
  const { rows } = await client.query(
    `select count(*)::int as total from ${resource}
     where ${['organization_id = $1', NOT_DELETED[resource], ...clauses].join(' and ')}`,
    values,
  );
  return rows[0].total;
}

/** Checks the length of a page, and its total if it was counted. A list that is read by cursor has none. */
export function assertPage(text, { page, limit, after }, total, who) {
  const { data, meta } = JSON.parse(text);
  if (after !== undefined) {
    assert.ok(data.length === limit && meta.has_more, `${who} answers no full page`);
    return;
  }
  if (total !== undefined) assert.equal(meta.total, total, `${who} answers a wrong total`);
  const left = Math.max(0, meta.total - (page - 1) * limit);
  assert.equal(data.length, Math.min(limit, left), `${who} answers a page of a wrong length`);
}

/** @returns the milliseconds in which PostgreSQL counts the matches of a search without indexes */
export async function timeScan(client, { id }, term) {
  await client.query('begin');
  for (const kind of ['indexscan', 'indexonlyscan', 'bitmapscan']) {
    await client.query(`set local enable_${kind} = off`);
  }
  const started = performance.now();
  await client.query(
    `select count(*) from leads
     where organization_id = $1 and deleted_at is null and search_text like $2`,
    [id, `%${term}%`],
  );
  const milliseconds = performance.now() - started;
  await client.query('commit');
  return milliseconds;
}
