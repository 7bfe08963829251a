import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The organization of a statement. In a call of an operator, it is the id of the operator. */
const CURRENT = `nullif(current_setting('app.organization_id', true), '')::uuid`;

/** The policies of each table, by their names. */
const POLICIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  organizations: {
    tenant: `using (id = ${CURRENT})`,
    operator: `using (operator_id = ${CURRENT})`,
  },
  api_keys: {
    tenant: `using (organization_id = ${CURRENT})`,
    // An operator sees whether one of its organizations has had a key.
    operator: `for select using (organization_id in (select id from organizations where operator_id = ${CURRENT}))`,
  },
  oauth_grants: { tenant: `using (organization_id = ${CURRENT})` },
  operator_responses: { operator: `using (operator_id = ${CURRENT})` },
};

/** For what is before or above an organization. The database user sets none then. */
const SYSTEM = `using (current_user <> 'latitude_app' and coalesce(current_setting('app.organization_id', true), '') = '')`;

const FOREIGN_KEYS = [
  ['mcp_sessions', 'key_id', '(key_id) references api_keys (id)'],
  ['mcp_sessions', 'grant_id', '(grant_id) references oauth_grants (id)'],
  ['oauth_artifacts', 'grant_id', '(grant_id) references oauth_grants (id)'],
] as const;

const primaryKey = (table: string) =>
  `alter table ${table} drop constraint ${table}_pkey,
     add constraint ${table}_pkey primary key using index ${table}_of_organization,
     add constraint ${table}_id_key unique using index ${table}_id_key`;

const MILLISECONDS = `date_trunc('milliseconds', now())`;

const STATEMENTS = [
  'alter table oauth_grants drop constraint oauth_grants_key_id_fkey',
  ...FOREIGN_KEYS.map(
    ([table, column]) => `alter table ${table} drop constraint ${table}_${column}_fkey`,
  ),
  'alter table oauth_grants alter column organization_id set not null',
  'alter table oauth_grants drop constraint oauth_grants_organization',
  primaryKey('api_keys'),
  primaryKey('oauth_grants'),
  'drop index api_keys_by_organization',
  // The foreign keys are validated by the next migration.
  `alter table oauth_grants add constraint oauth_grants_organization_id_key_id_fkey
     foreign key (organization_id, key_id) references api_keys (organization_id, id) on delete cascade not valid`,
  ...FOREIGN_KEYS.map(
    ([table, column, sql]) =>
      `alter table ${table} add constraint ${table}_${column}_fkey foreign key ${sql} on delete cascade not valid`,
  ),
  // As in other tables of records.
  `alter table api_keys alter column created_at set default ${MILLISECONDS}`,
  `alter table oauth_grants alter column created_at set default ${MILLISECONDS}, alter column client_name drop not null`,
  ...Object.entries(POLICIES).flatMap(([table, policies]) => [
    ...Object.entries({ ...policies, system: SYSTEM }).map(
      ([name, rule]) => `create policy ${name} on ${table} ${rule}`,
    ),
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create trigger refuse_entity_manager before insert or update or delete on ${table}
       for each statement execute function refuse_entity_manager()`,
  ]),
];

/**
 * Organizations, their keys and grants, and the responses to operators, under row-level security. The keys of their tables
 * begin with the organization. The next start grants the tenant role its privileges on their columns.
 */
export class KeysUnderRowLevelSecurity1767100000102 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because it locks tables in use until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [table, policies] of Object.entries(POLICIES)) {
      for (const name of [...Object.keys(policies), 'system'])
        await runner.query(`drop policy ${name} on ${table}`);
      await runner.query(`drop trigger refuse_entity_manager on ${table}`);
      await runner.query(`alter table ${table} no force row level security`);
      await runner.query(`alter table ${table} disable row level security`);
    }
    await runner.query(
      'alter table oauth_grants drop constraint oauth_grants_organization_id_key_id_fkey',
    );
    for (const [table, column] of FOREIGN_KEYS)
      await runner.query(`alter table ${table} drop constraint ${table}_${column}_fkey`);
    for (const table of ['api_keys', 'oauth_grants']) {
      await runner.query(`alter table ${table} drop constraint ${table}_pkey`);
      await runner.query(`alter table ${table} drop constraint ${table}_id_key`);
      await runner.query(`alter table ${table} add primary key (id)`);
      const index = `${table}_of_organization`;
      await runner.query(`create unique index ${index} on ${table} (organization_id, id)`);
      await runner.query(`create unique index ${table}_id_key on ${table} (id)`);
      await runner.query(`alter table ${table} alter column created_at set default now()`);
    }
    await runner.query('alter table oauth_grants alter column client_name set not null');
    await runner.query('create index api_keys_by_organization on api_keys (organization_id, id)');
    await runner.query('alter table oauth_grants alter column organization_id drop not null');
    await runner.query(
      'alter table oauth_grants add constraint oauth_grants_organization check (organization_id is not null)',
    );
    for (const [table, column] of [['oauth_grants', 'key_id'], ...FOREIGN_KEYS]) {
      const parent = column === 'key_id' ? 'api_keys' : 'oauth_grants';
      await runner.query(
        `alter table ${table} add foreign key (${column}) references ${parent} (id) on delete cascade`,
      );
    }
  }
}
