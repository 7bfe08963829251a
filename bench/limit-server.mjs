// About the highest throughput of Node.js and pg on the tables of schema-0.4.0.sql: statements share a few
// pipelined connections, and PostgreSQL formats the JSON.
// bench/run.mjs starts it with one argument: {connection, organizations: {key: id}}.
import pg from 'pg';
import {
  INSERT,
  LEAD,
  LIST_ITEM,
  NOT_DELETED,
  metaOf,
  NEWEST_FIRST,
  SEARCHED,
  serve,
  updateOf,
  valuesOfNew,
} from './lib/lead-server.mjs';

const CONNECTIONS = 6;

const { connection, organizations } = JSON.parse(process.argv[2]);
const clients = [];
for (let i = 0; i < CONNECTIONS; i++) {
  const client = new pg.Client({ ...connection, pipeline: true });
  await client.connect();
  await client.query(`set TimeZone = 'UTC'`);
  clients.push(client);
}

const GET = `select row_to_json(t)::text as json from
  (select ${asJson(LEAD)} from leads where ${NOT_DELETED} and id = $2) t`;
const PAGE = `select ${pageOf(NOT_DELETED)} as json`;
const LIST = listOf(NOT_DELETED);
const SEARCH = listOf(SEARCHED);
const CREATE = written(INSERT);

/** Formats times as Latitude does: in milliseconds with a Z. */
function asJson(columns) {
  return columns.map((column) =>
    column.endsWith('_at')
      ? `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`
      : column,
  );
}

function pageOf(condition) {
  // Formats only the rows of the page.
  return `(select coalesce(json_agg(t), '[]')::text from (select ${asJson(LIST_ITEM)} from
    (select ${LIST_ITEM} from leads where ${condition} ${NEWEST_FIRST}) page) t)`;
}

function listOf(condition) {
  return `select ${pageOf(condition)} as json,
    (select count(*)::int from leads where ${condition}) as total`;
}

function written(statement) {
  return `with t as (${statement} returning ${LEAD})
    select row_to_json(u)::text as json from (select ${asJson(LEAD)} from t) u`;
}

let turn = 0;

async function rowOf(name, text, values) {
  const client = clients[turn++ % CONNECTIONS];
  const { rows } = await client.query({ name, text, values });
  return rows[0];
}

async function record(row) {
  const { json } = (await row) ?? {};
  return json && `{"data":${json}}`;
}

serve('limit server', new Map(Object.entries(organizations)), {
  get: (organization, id) => record(rowOf('get', GET, [organization, id])),
  async list(query) {
    // Without a name, so that PostgreSQL plans each search for its term.
    const [name, text] = query.searched
      ? ['', SEARCH]
      : query.counted
        ? ['list', LIST]
        : ['page', PAGE];
    const { json, total } = await rowOf(name, text, query.values);
    return `{"data":${json},"meta":${JSON.stringify(metaOf(query, total))}}`;
  },
  create: (organization, lead) => record(rowOf('create', CREATE, valuesOfNew(organization, lead))),
  update(organization, id, changes) {
    const fields = Object.keys(changes);
    const values = [organization, id, ...Object.values(changes)];
    return record(rowOf(`update ${fields}`, written(updateOf(fields)), values));
  },
});
