import { setTimeout as sleep } from 'node:timers/promises';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The root collation of ICU. It is deterministic: only equal strings are equal. */
const CREATE_COLLATION = `
  create collation if not exists latitude_names (provider = icu, locale = 'und', deterministic = true)`;

const WHERE = 'where deleted_at is null';

/** The indexes of sorts by names, each with the index that it replaces. */
const INDEXES = [
  {
    name: 'leads_sorted_by_first_name',
    columns: '(organization_id, first_name collate latitude_names, id)',
    replaced: 'leads_by_first_name',
  },
  {
    name: 'leads_sorted_by_last_name',
    columns: '(organization_id, last_name collate latitude_names, id)',
    replaced: 'leads_by_last_name',
  },
  {
    name: 'leads_sorted_by_last_name_desc',
    columns: '(organization_id, last_name collate latitude_names desc nulls last, id desc)',
    replaced: 'leads_by_last_name_desc',
  },
] as const;

/** Makes lists sort names as people do, instead of by code point. */
export class OrderOfNames1765152000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CREATE_COLLATION);
    for (const { name, columns, replaced } of INDEXES) {
      await createIndex(runner, name, `${columns} ${WHERE}`);
      await dropIndex(runner, replaced);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name, columns, replaced } of INDEXES) {
      const earlier = columns.replace(' collate latitude_names', '');
      await runner.query(`create index ${replaced} on leads ${earlier} ${WHERE}`);
      await runner.query(`drop index ${name}`);
    }
    await runner.query('drop collation latitude_names');
  }
}

/** Builds an index on each partition, or on the table, without blocking writers. Can be repeated after a failure. */
async function createIndex(runner: QueryRunner, name: string, definition: string): Promise<void> {
  const isPartitioned = await isPartitionedTable(runner);
  if (isPartitioned && (await exists(runner, name))) return;
  const suffixes = isPartitioned ? await partitions(runner) : [''];
  for (const suffix of suffixes) {
    // An interrupted build leaves an invalid index.
    await runner.query(`drop index concurrently if exists ${name}${suffix}`);
    await runner.query(
      `create index concurrently ${name}${suffix} on leads${suffix} ${definition}`,
    );
  }
  await runner.query(`create index if not exists ${name} on leads ${definition}`);
}

/** PostgreSQL drops no index of a partitioned table `concurrently`. */
async function dropIndex(runner: QueryRunner, name: string): Promise<void> {
  if (await isPartitionedTable(runner)) await withBriefLock(runner, `drop index if exists ${name}`);
  else await runner.query(`drop index concurrently if exists ${name}`);
}

async function isPartitionedTable(runner: QueryRunner): Promise<boolean> {
  const [table] = (await runner.query(
    `select relkind = 'p' as partitioned from pg_class where oid = 'leads'::regclass`,
  )) as { partitioned: boolean }[];
  return table?.partitioned === true;
}

async function exists(runner: QueryRunner, name: string): Promise<boolean> {
  const [index] = (await runner.query(`select to_regclass('${name}') is not null as found`)) as {
    found: boolean;
  }[];
  return index?.found === true;
}

/** The suffixes of the names of the partitions. */
async function partitions(runner: QueryRunner): Promise<string[]> {
  const found = (await runner.query(
    `select substr(relname, 6) as suffix from pg_class
     where oid in (select relid from pg_partition_tree('leads') where isleaf)`,
  )) as { suffix: string }[];
  return found.map(({ suffix }) => suffix);
}

/**
 * Runs a statement that needs an exclusive lock. Requests queue behind a pending lock, so each attempt waits for
 * 50 ms at most.
 */
async function withBriefLock(runner: QueryRunner, statement: string): Promise<void> {
  for (;;) {
    await runner.startTransaction();
    try {
      await runner.query('set local lock_timeout = 50');
      await runner.query(statement);
      await runner.commitTransaction();
      return;
    } catch (error) {
      await runner.rollbackTransaction();
      const { driverError } = error as { driverError?: { code?: unknown } };
      if (driverError?.code !== '55P03') throw error;
      await sleep(500);
    }
  }
}
