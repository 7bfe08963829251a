import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether an operator has suspended an organization. */
export class SuspendedOrganizations1767000000303 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table organizations add column suspended boolean not null default false',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table organizations drop column suspended');
  }
}
