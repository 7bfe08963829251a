import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Whether the forms of an organization's leads are kept up to date. The next start grants the tenant role its privileges on
 * the column.
 */
export class OrganizationsWithDuplicates1767500005000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table organizations add column finds_duplicates boolean not null default false',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table organizations drop column finds_duplicates');
  }
}
