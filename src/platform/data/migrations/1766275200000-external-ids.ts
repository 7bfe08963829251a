import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the ids that leads have in other systems. */
export class ExternalIds1766275200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table leads add column external_id text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table leads drop column external_id');
  }
}

const NAME = 'leads_external_id_key';
const DEFINITION =
  '(organization_id, external_id) where deleted_at is null and external_id is not null';

/** Makes external ids unique among the leads of an organization that are not deleted. */
export class UniqueExternalIds1766275200001 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An interrupted build leaves an invalid index.
    await runner.query(`drop index concurrently if exists ${NAME}`);
    await runner.query(`create unique index concurrently ${NAME} on leads ${DEFINITION}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ${NAME}`);
  }
}
