// About the most that Node.js and pg can do with Latitude's tables: statements share a few pipelined
// connections, and PostgreSQL writes the JSON, which is passed through as it comes.
// bench/run.mjs starts it with one argument: {connection, organizations: {key: id}}.
import pg from 'pg';
import {
  INSERT,
  LEAD,
  LIST_ITEM,
  LIVE,
  metaOf,
  NEWEST_FIRST,
  SEARCHED,
  serve,
  updateOf,
  valuesOfNew,
} from './lib/lead-server.mjs';

const LANES = 6;

const { connection, organizations } = JSON.parse(process.argv[2]);
const lanes = [];
for (let i = 0; i < LANES; i++) {
  const lane = new pg.Client({ ...connection, pipeline: true });
  await lane.connect();
  await lane.query(`set TimeZone = 'UTC'`);
  lanes.push(lane);
}

const GET = `select row_to_json(t)::text as json from
  (select ${asJson(LEAD)} from leads where ${LIVE} and id = $2) t`;
const PAGE = `select ${pageOf(LIVE)} as json`;
const LIST = listOf(LIVE);
const SEARCH = listOf(SEARCHED);
const CREATE = written(INSERT);

/** Columns whose JSON is that of Latitude: times in milliseconds with a Z. */
function asJson(columns) {
  return columns.map((column) =>
    column.endsWith('_at')
      ? `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`
      : column,
  );
}

function pageOf(condition) {
  // Only the page's rows are formatted, after the order and the limit.
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
  const lane = lanes[turn++ % LANES];
  const { rows } = await lane.query({ name, text, values });
  return rows[0];
}

async function record(row) {
  const { json } = (await row) ?? {};
  return json && `{"data":${json}}`;
}

serve('limit server', new Map(Object.entries(organizations)), {
  get: (organization, id) => record(rowOf('get', GET, [organization, id])),
  async list(asked) {
    // Unnamed, so that PostgreSQL plans each search by its term.
    const [name, text] = asked.searched
      ? ['', SEARCH]
      : asked.counted
        ? ['list', LIST]
        : ['page', PAGE];
    const { json, total } = await rowOf(name, text, asked.values);
    return `{"data":${json},"meta":${JSON.stringify(metaOf(asked, total))}}`;
  },
  create: (organization, lead) => record(rowOf('create', CREATE, valuesOfNew(organization, lead))),
  update(organization, id, changes) {
    const fields = Object.keys(changes);
    const values = [organization, id, ...Object.values(changes)];
    return record(rowOf(`update ${fields}`, written(updateOf(fields)), values));
  },
});
