import { EXTENSIONS } from '../../../platform/data/create-extensions.js';
import {
  FIND_MARK,
  type LeakProofMark,
  MARK_LEAK_PROOF,
} from '../../../platform/data/records/search-index.js';
import { type Checks, failed, ok, together, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';
import { schemaStateOf } from './migrations.js';

/** What the schema needs of its database. A dump of the schema does not contain it. */
export const CATALOGUE_CHECKS: Checks<DatabaseContext> = {
  extensions: async ({ sql, executed, extensions }) => {
    const missing = await sql.read<MissingExtension>(FIND_MISSING_EXTENSIONS, [EXTENSIONS]);
    const isPending = schemaStateOf({ executed, extensions }) === 'pending';
    return together(
      missing.map(({ name, may_create }) =>
        isPending && may_create
          ? ok(`The upgrade creates the extension ${name}.`)
          : failed(
              `The extension ${name} is missing.`,
              `As a superuser: create extension ${name};`,
            ),
      ),
      ok(`The database has the extensions ${EXTENSIONS.join(', ')}.`),
    );
  },

  leakproof: async ({ sql }) => {
    const { leak_proof } = await sql.readOne<LeakProofMark>(FIND_MARK);
    if (leak_proof) return ok('LIKE is marked as leak-proof, so that searches use their index.');
    return warning(
      'LIKE is not marked as leak-proof: searches read every lead of an organization.',
      `As a superuser, in this database: ${MARK_LEAK_PROOF};`,
    );
  },

  collations: async ({ sql }) => {
    const rows = await sql.read<{ name: string; remedy: string }>(FIND_COLLATIONS);
    return together(
      rows.map(({ name, remedy }) =>
        warning(`${name} has another version than when its indexes were built.`, remedy),
      ),
      ok('The collations have the versions with which their indexes were built.'),
    );
  },
};

interface MissingExtension {
  readonly name: string;
  readonly may_create: boolean;
}

/** The extensions $1 that the database does not have, and whether its user may create them. */
const FIND_MISSING_EXTENSIONS = `
  select name, rolsuper or exists (select from pg_available_extension_versions available
      where available.name = needed.name and trusted
        and has_database_privilege(current_database(), 'create')) as may_create
  from unnest($1::text[]) needed(name), pg_roles
  where rolname = current_user and not exists (select from pg_extension where extname = name)`;

/** The collation of the database, and those of indexes of the schema. */
const FIND_COLLATIONS = `
  select format('The collation of the database %s', datname) as name,
    format('reindex database concurrently %1$I; alter database %1$I refresh collation version;', datname) as remedy
  from pg_database where datname = current_database()
    and datcollversion <> pg_database_collation_actual_version(oid)
  union all
  select format('The collation %s', collname),
    string_agg(distinct format('reindex index concurrently %s; ', indexrelid::regclass), '')
      || format('alter collation %s refresh version;', pg_collation.oid::regcollation)
  from pg_collation join pg_index on pg_collation.oid = any(indcollation::oid[])
    join pg_class on pg_class.oid = indexrelid and relnamespace = current_schema()::regnamespace
  where collversion <> pg_collation_actual_version(pg_collation.oid)
  group by pg_collation.oid, collname`;
