import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The rate limits of a key. Null: those of the settings. The next start grants the tenant role its privileges on them. */
export class LimitsOfKeys1767400000300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table api_keys add column reads_per_minute integer, add column writes_per_minute integer',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'alter table api_keys drop column reads_per_minute, drop column writes_per_minute',
    );
  }
}
