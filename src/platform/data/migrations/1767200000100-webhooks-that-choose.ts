import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What webhooks choose among the events of their types. */
export class WebhooksThatChoose1767200000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhooks add column changed text[], add column filter jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table webhooks drop column changed, drop column filter');
  }
}
