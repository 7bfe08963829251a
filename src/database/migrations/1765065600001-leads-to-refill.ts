import type { MigrationInterface, QueryRunner } from 'typeorm';

const NAME = 'leads_to_refill';
const DEFINITION = String.raw`(organization_id, id)
  where deleted_at is null and search_text not like E'\x02%'`;

/** Indexes the leads whose search text a job of the server writes again. At first these are all. */
export class LeadsToRefill1765065600001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    for (const { suffix } of await partitions(runner)) {
      await runner.query(`drop index concurrently if exists ${NAME}${suffix}`);
      await runner.query(
        `create index concurrently ${NAME}${suffix} on leads${suffix} ${DEFINITION}`,
      );
    }
    await runner.query(`create index if not exists ${NAME} on leads ${DEFINITION}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ${NAME}`);
  }
}

/**
 * The tables of the leads, as suffixes of the name: one without a suffix if they are not partitioned. There are
 * none if the index of all partitions exists.
 */
async function partitions(runner: QueryRunner): Promise<{ suffix: string }[]> {
  return (await runner.query(
    `select substr(relname, 6) as suffix from pg_class
     where oid = 'leads'::regclass and relkind = 'r'
       or to_regclass('${NAME}') is null
        and oid in (select relid from pg_partition_tree('leads') where isleaf)`,
  )) as { suffix: string }[];
}
