import type { DataSource, QueryRunner } from 'typeorm';
import { prepareTenantRole } from '../tenant-role/prepare-tenant-role.js';
import {
  readDefinitions,
  readForeignKeys,
  type TableDefinition,
  type TableIndex,
} from './table-definitions.js';

/** The partition key of all tables. */
const KEY = 'organization_id';

/**
 * Spreads the rows of each table of organizations over hash partitions, in one transaction. Tables that are
 * partitioned stay as they are. Statements on the tables wait until the end.
 * @returns the names of the tables
 * @throws Error that names an index that partitions cannot have
 */
export async function partitionTables(
  dataSource: DataSource,
  partitions: number,
): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    const names = (await readDefinitions(runner)).map(({ name }) => name);
    if (names.length > 0) await runner.query(`lock table ${names.join(', ')}`);
    const tables = await readDefinitions(runner);
    tables.forEach(assertPartitionable);
    const keys = await readForeignKeys(runner, tables);
    for (const { table, name } of keys) {
      await runner.query(`alter table ${table} drop constraint ${name}`);
    }
    for (const table of tables) await partitionTable(runner, table, partitions);
    for (const { table, name, definition } of keys) {
      await runner.query(`alter table ${table} add constraint ${name} ${definition}`);
    }
    await runner.commitTransaction();
    // Grants privileges on the sequences that replace identity columns.
    await prepareTenantRole(runner);
    for (const { name } of tables) await runner.query(`analyze ${name}`);
    return names;
  } finally {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}

/** @throws Error if partitions cannot enforce a unique index or an exclusion constraint */
function assertPartitionable({ name, indexes }: TableDefinition): void {
  const exclusion = indexes.find(({ isExclusion }) => isExclusion);
  if (exclusion) {
    throw new Error(
      `The exclusion constraint ${exclusion.name} of the table ${name} cannot be kept over partitions, so the ` +
        `table cannot be partitioned. Drop the constraint.`,
    );
  }
  const lacking = indexes.find(
    ({ isUnique, isPrimary, columns }) => isUnique && !isPrimary && !columns.includes(KEY),
  );
  if (!lacking) return;
  throw new Error(
    `The unique index ${lacking.name} of the table ${name} lacks ${KEY}, so the table cannot be partitioned. ` +
      `Add the column to the index.`,
  );
}

async function partitionTable(
  runner: QueryRunner,
  table: TableDefinition,
  partitions: number,
): Promise<void> {
  const { name, columns, indexes, identities, statements } = table;
  const old = withSuffix(name, '_unpartitioned');
  await renameTable(runner, table, old);
  await runner.query(`create table ${name} (like ${old} including all excluding indexes excluding identity)
    partition by hash (${KEY})`);
  for (let n = 0; n < partitions; n++) await createPartition(runner, table, n, partitions);
  for (const { column, sequence } of identities) {
    await replaceIdentity(runner, { name, old, column, sequence });
  }
  const list = columns.join(', ');
  await runner.query(`insert into ${name} (${list}) select ${list} from ${old}`);
  for (const index of indexes) {
    for (const statement of indexStatements(name, index)) await runner.query(statement);
    await nameIndexesOfPartitions(runner, index.name);
  }
  for (const statement of statements) await runner.query(statement);
  await runner.query(`alter table ${name} enable row level security`);
  await runner.query(`alter table ${name} force row level security`);
  await runner.query(`drop table ${old}`);
}

/** Renames a table and its indexes. Their names are unique in the schema. */
async function renameTable(runner: QueryRunner, table: TableDefinition, old: string) {
  await runner.query(`alter table ${table.name} rename to ${old}`);
  // Without this, an owner who is not a superuser would copy no rows.
  await runner.query(`alter table ${old} no force row level security`);
  for (const { name } of table.indexes) {
    await runner.query(`alter index ${name} rename to ${withSuffix(name, '_unpartitioned')}`);
  }
}

async function createPartition(
  runner: QueryRunner,
  { name, parameters }: TableDefinition,
  n: number,
  partitions: number,
): Promise<void> {
  const options = parameters.length > 0 ? ` with (${parameters.join(', ')})` : '';
  await runner.query(`create table ${withSuffix(name, `_p${n}`)} partition of ${name}
    for values with (modulus ${partitions}, remainder ${n})${options}`);
}

/** Replaces an identity column, which partitioned tables cannot have before PostgreSQL 17, by a sequence. */
async function replaceIdentity(
  runner: QueryRunner,
  { name, old, column, sequence }: { name: string; old: string; column: string; sequence: string },
): Promise<void> {
  const [{ next }] = (await runner.query(
    `select nextval('${sequence.replaceAll("'", "''")}')::text as next`,
  )) as [{ next: string }];
  await runner.query(`alter table ${old} alter column ${column} drop identity`);
  await runner.query(`create sequence ${sequence} start with ${next} owned by ${name}.${column}`);
  await runner.query(
    `alter table ${name} alter column ${column} set default nextval('${sequence.replaceAll("'", "''")}')`,
  );
}

/**
 * The statements that create an index or a constraint again on the partitioned table. A primary key without
 * the partition key gets it as its first column.
 */
function indexStatements(table: string, index: TableIndex): string[] {
  const { name, constraint, columns, statement } = index;
  if (!constraint) return [statement];
  const hasPartitionKey = columns.includes(KEY);
  const definition = hasPartitionKey ? constraint : constraint.replace('(', `(${KEY}, `);
  return [
    `alter table ${table} add constraint ${name} ${definition}`,
    // Serves reads in the order of the former key.
    ...(hasPartitionKey ? [] : [`create index on ${table} (${columns.join(', ')})`]),
  ];
}

/** Names the index of each partition after that of the table, because errors about duplicates contain the name. */
async function nameIndexesOfPartitions(runner: QueryRunner, name: string): Promise<void> {
  const indexes = (await runner.query(
    `select inhrelid::regclass::text as name, substring(table_of.relname from '_p\\d+$') as suffix
     from pg_inherits join pg_index on indexrelid = inhrelid join pg_class table_of on table_of.oid = indrelid
     where inhparent = $1::regclass`,
    [name],
  )) as { name: string; suffix: string }[];
  for (const { name: oldName, suffix } of indexes) {
    await runner.query(`alter index ${oldName} rename to ${withSuffix(name, suffix)}`);
  }
}

/** Appends a suffix to a name that may be quoted. */
function withSuffix(name: string, suffix: string): string {
  return name.endsWith('"') ? `${name.slice(0, -1)}${suffix}"` : `${name}${suffix}`;
}
