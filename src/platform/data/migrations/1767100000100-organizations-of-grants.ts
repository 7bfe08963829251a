import type { MigrationInterface, QueryRunner } from 'typeorm';

const TIME = `timestamptz(3) not null default date_trunc('milliseconds', now())`;

/** Columns that grants have of their keys. They never change, because a grant stays with its key. */
const STATEMENTS = [
  // The insert of release 0.4.0 names none of them.
  `create function organization_of_grant() returns trigger language plpgsql as $$ begin
     select key.organization_id, key.user_id into new.organization_id, new.user_id
     from api_keys key where key.id = new.key_id;
     return new;
   end $$`,
  `alter table oauth_grants add column organization_id uuid, add column user_id uuid, add column updated_at ${TIME}`,
  `create trigger organization_of_grant before insert on oauth_grants
     for each row when (new.organization_id is null) execute function organization_of_grant()`,
  `alter table api_keys add column updated_at ${TIME}`,
];

/** The organization of each grant, for row-level security, and its user. */
export class OrganizationsOfGrants1767100000100 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the columns lock tables in use until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop trigger organization_of_grant on oauth_grants');
    await runner.query('drop function organization_of_grant');
    await runner.query(
      'alter table oauth_grants drop column organization_id, drop column user_id, drop column updated_at',
    );
    await runner.query('alter table api_keys drop column updated_at');
  }
}
