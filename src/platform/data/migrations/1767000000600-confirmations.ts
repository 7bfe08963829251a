import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether tools of /mcp ask before they delete, by key and grant, and the secret that signs their questions. */
export class Confirmations1767000000600 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table mcp_secrets (name text primary key, secret bytea not null)');
    // In one round trip, because the columns lock tables in use until the commit.
    await runner.query(`
      alter table api_keys add column confirmations text not null default 'never';
      alter table oauth_grants add column confirmations text not null default 'ask'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table mcp_secrets');
    await runner.query('alter table api_keys drop column confirmations');
    await runner.query('alter table oauth_grants drop column confirmations');
  }
}
