import type { MigrationInterface, QueryRunner } from 'typeorm';

const NAME = 'leads_to_refill';
const DEFINITION = String.raw`(organization_id, id)
  where deleted_at is null and search_text not like E'\x02%'`;

/** Indexes the leads whose search text a job of the server writes again. At first these are all. */
export class LeadsToRefill1765065600001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query(`drop index concurrently if exists ${NAME}`);
    await runner.query(`create index concurrently ${NAME} on leads ${DEFINITION}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ${NAME}`);
  }
}
