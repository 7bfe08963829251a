// A hand-written server for these requests only: node:http and pg with named prepared statements on
// the tables of schema-0.4.0.sql. bench/run.mjs starts it with one argument:
// {connection, poolSize, organizations: {key: id}}.
import 'reflect-metadata';
import pg from 'pg';
import { DefaultLeadScorer } from '../dist/src/modules/leads/lead-scorer.js';
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

const { connection, poolSize, organizations } = JSON.parse(process.argv[2]);
const pool = new pg.Pool({ ...connection, max: poolSize });

const GET = `select ${LEAD} from leads where ${NOT_DELETED} and id = $2`;
const PAGE = `select ${LIST_ITEM} from leads where ${NOT_DELETED} ${NEWEST_FIRST}`;
const LIST = listOf(NOT_DELETED);
const SEARCH = listOf(SEARCHED);
const LOCK = `${GET} for update`;
const CREATE = `${INSERT} returning ${LEAD}`;
const scorer = new DefaultLeadScorer();

function listOf(condition) {
  return `select ${LIST_ITEM}, (select count(*)::int from leads where ${condition}) as total
    from leads where ${condition} ${NEWEST_FIRST}`;
}

async function rowsOf(name, text, values) {
  const { rows } = await pool.query({ name, text, values });
  return rows;
}

async function record(rows) {
  const [data] = await rows;
  return data && JSON.stringify({ data });
}

/** Updates a lead with one statement, which leaves the score as it is. */
async function updated(client, organization, id, changes) {
  const fields = Object.keys(changes);
  const text = `${updateOf(fields)} returning ${LEAD}`;
  const values = [organization, id, ...Object.values(changes)];
  const { rows } = await client.query({ name: `update ${fields}`, text, values });
  return rows;
}

/** Reads and locks a lead, computes its score, and writes both. */
async function updateInTransaction(organization, id, changes) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const values = [organization, id];
    const { rows } = await client.query({ name: 'lock', text: LOCK, values });
    const lead_score = rows[0] && scorer.score({ ...rows[0], ...changes });
    const written = rows[0] ? await updated(client, ...values, { ...changes, lead_score }) : [];
    await client.query('commit');
    return record(written);
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

serve('bare server', new Map(Object.entries(organizations)), {
  get: (organization, id) => record(rowsOf('get', GET, [organization, id])),
  async list(query) {
    // Without a name, so that PostgreSQL plans each search for its term.
    const [name, text] = query.searched
      ? ['', SEARCH]
      : query.counted
        ? ['list', LIST]
        : ['page', PAGE];
    const rows = await rowsOf(name, text, query.values);
    const data = rows.map(({ total, ...lead }) => lead);
    return JSON.stringify({ data, meta: metaOf(query, rows[0]?.total ?? 0) });
  },
  create: (organization, lead) => record(rowsOf('create', CREATE, valuesOfNew(organization, lead))),
  update: (organization, id, changes, query) =>
    query === 'transaction=yes'
      ? updateInTransaction(organization, id, changes)
      : record(updated(pool, organization, id, changes)),
});
