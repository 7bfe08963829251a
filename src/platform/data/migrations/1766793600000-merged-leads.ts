import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the leads into which deleted ones were merged. */
export class MergedLeads1766793600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table leads add column merged_into uuid');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table leads drop column merged_into');
  }
}

const NAME = 'leads_merged';
const DEFINITION = '(organization_id, merged_into) where merged_into is not null';

/** Finds the leads that were merged into another one. */
export class MergedLeadsIndex1766793600001 implements MigrationInterface {
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
