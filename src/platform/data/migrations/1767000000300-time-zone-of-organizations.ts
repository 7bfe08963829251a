import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The time zone of an organization. */
export class TimeZoneOfOrganizations1767000000300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `alter table organizations add column time_zone text not null default 'UTC'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table organizations drop column time_zone');
  }
}
