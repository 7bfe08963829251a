import type { MigrationInterface, QueryRunner } from 'typeorm';

const BATCH = 1_000;

const FILL = `
  update oauth_grants grants set organization_id = key.organization_id, user_id = key.user_id from api_keys key
  where key.id = grants.key_id and grants.id in (
    select id from oauth_grants where organization_id is null limit ${BATCH})
  returning grants.id`;

const INDEXES = ['api_keys', 'oauth_grants'].flatMap((table) => [
  { name: `${table}_of_organization`, sql: `unique index NAME on ${table} (organization_id, id)` },
  { name: `${table}_id_key`, sql: `unique index NAME on ${table} (id)` },
  {
    name: `${table}_by_created_at`,
    sql: `index NAME on ${table} (organization_id, created_at, id)`,
  },
]);

const IS_FILLED = 'oauth_grants_organization';

/** Fills the organizations of grants, and builds the indexes of the keys that the next migration declares. */
export class IndexesOfKeysAndGrants1767100000101 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    let filled: number;
    do {
      [, filled] = (await runner.query(FILL)) as [unknown[], number];
    } while (filled === BATCH);
    await runner.query(`alter table oauth_grants drop constraint if exists ${IS_FILLED}`);
    await runner.query(
      `alter table oauth_grants add constraint ${IS_FILLED} check (organization_id is not null) not valid`,
    );
    await runner.query(`alter table oauth_grants validate constraint ${IS_FILLED}`);
    for (const { name, sql } of INDEXES) {
      // An interrupted build leaves an invalid index.
      await runner.query(`drop index concurrently if exists ${name}`);
      await runner.query(
        `create ${sql.replace('index', 'index concurrently').replace('NAME', name)}`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index ${INDEXES.map(({ name }) => name).join(', ')}`);
    await runner.query(`alter table oauth_grants drop constraint ${IS_FILLED}`);
  }
}
