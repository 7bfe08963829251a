// Prints the tables of release 0.4.0 that the other servers of the benchmark use, as schema-0.4.0.sql has them. Run it in a
// checkout of the release after npm ci and npm run build, with an empty database and the pg_dump of its server:
// .ci/with-postgres-15 node ../latitude/bench/freeze-schema.mjs
import { execFileSync } from 'node:child_process';
import pg from 'pg';

const TABLES = ['leads', 'record_counts', 'api_keys'];

const NEEDED = `CREATE EXTENSION pg_trgm WITH SCHEMA public;
CREATE COLLATION public.latitude_names (provider = icu, locale = 'und');`;

/** What has no effect on a superuser, belongs to the session, or refers to another table. */
const LEFT_OUT = /ROW LEVEL SECURITY|^CREATE POLICY|^SET |^SELECT pg_catalog|FOREIGN KEY/m;

const FUNCTIONS = `select distinct pg_get_functiondef(tgfoid) || ';' as definition from pg_trigger
  where tgrelid = any ($1::regclass[]) and not tgisinternal order by 1`;

const connectionString = process.env.TEST_DATABASE_URL;
if (!connectionString) throw new Error('TEST_DATABASE_URL is not set');
const env = { ...process.env, DATABASE_URL: connectionString };
execFileSync(process.execPath, ['dist/src/cli.js', 'migrate'], { env });
const client = new pg.Client({ connectionString });
await client.connect();
const { rows } = await client.query(FUNCTIONS, [TABLES]);
await client.end();
const options = ['--schema-only', '--no-owner', '--no-privileges', `--dbname=${connectionString}`];
const tables = TABLES.map((table) => `--table=${table}`);
const dump = execFileSync('pg_dump', [...options, ...tables], { encoding: 'utf8' });
const statements = dump
  .replaceAll(/^(--|\\).*$/gm, '')
  .split(/;\n/)
  .map((statement) => statement.trim())
  .filter((statement) => statement !== '' && !LEFT_OUT.test(statement))
  .map((statement) => `${statement};`);
const functions = rows.map(({ definition }) => definition.replace(/\s+;$/, ';'));
console.log([NEEDED, ...functions, ...statements].join('\n\n'));
