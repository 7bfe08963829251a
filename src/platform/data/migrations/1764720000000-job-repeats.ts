import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets a job that is sent again while it runs run once more. */
export class JobRepeats1764720000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table jobs
      add column is_running boolean not null default false,
      add column run_again_at timestamptz(3)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table jobs drop column is_running, drop column run_again_at');
  }
}
