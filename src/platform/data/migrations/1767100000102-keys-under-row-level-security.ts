import type { MigrationInterface, QueryRunner } from 'typeorm';

const CURRENT = `nullif(current_setting('app.organization_id', true), '')::uuid`;

/** What each policy is for, by table and name. */
const POLICIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  organizations: { tenant: `id = ${CURRENT}`, operator: `operator_id = ${CURRENT}` },
  api_keys: {
    tenant: `organization_id = ${CURRENT}`,
    // An operator sees whether its organization has had a key.
    operator: `organization_id in (select id from organizations where operator_id = ${CURRENT})`,
  },
  oauth_grants: { tenant: `organization_id = ${CURRENT}` },
  operator_responses: { operator: `operator_id = ${CURRENT}` },
};

/** What is before or above an organization: the database user has set none. */
const SYSTEM = `current_user <> 'latitude_app' and coalesce(current_setting('app.organization_id', true), '') = ''`;

const FOREIGN_KEYS = [
  ['oauth_grants', 'key_id', '(organization_id, key_id) references api_keys (organization_id, id)'],
  ['mcp_sessions', 'key_id', '(key_id) references api_keys (id)'],
  ['mcp_sessions', 'grant_id', '(grant_id) references oauth_grants (id)'],
  ['oauth_artifacts', 'grant_id', '(grant_id) references oauth_grants (id)'],
] as const;

const primaryKey = (table: string) =>
  `alter table ${table} drop constraint ${table}_pkey,
     add constraint ${table}_pkey primary key using index ${table}_of_organization,
     add constraint ${table}_id_key unique using index ${table}_id_key`;

const STATEMENTS = [
  ...FOREIGN_KEYS.map(
    ([table, column]) => `alter table ${table} drop constraint ${table}_${column}_fkey`,
  ),
  'alter table oauth_grants alter column organization_id set not null',
  'alter table oauth_grants drop constraint oauth_grants_organization',
  primaryKey('api_keys'),
  primaryKey('oauth_grants'),
  'drop index api_keys_by_organization',
  // Validated by the next migration.
  ...FOREIGN_KEYS.map(
    ([table, column, sql]) =>
      `alter table ${table} add constraint ${table}_${column}_fkey foreign key ${sql} on delete cascade not valid`,
  ),
  ...Object.entries(POLICIES).flatMap(([table, policies]) => [
    ...Object.entries({ ...policies, system: SYSTEM }).map(
      ([name, condition]) => `create policy ${name} on ${table} using (${condition})`,
    ),
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
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
      await runner.query(`alter table ${table} no force row level security`);
      await runner.query(`alter table ${table} disable row level security`);
    }
    for (const [table, column] of FOREIGN_KEYS)
      await runner.query(`alter table ${table} drop constraint ${table}_${column}_fkey`);
    for (const table of ['api_keys', 'oauth_grants']) {
      await runner.query(`alter table ${table} drop constraint ${table}_pkey`);
      await runner.query(`alter table ${table} drop constraint ${table}_id_key`);
      await runner.query(`alter table ${table} add primary key (id)`);
      const index = `${table}_of_organization`;
      await runner.query(`create unique index ${index} on ${table} (organization_id, id)`);
      await runner.query(`create unique index ${table}_id_key on ${table} (id)`);
    }
    await runner.query('create index api_keys_by_organization on api_keys (organization_id, id)');
    await runner.query('alter table oauth_grants alter column organization_id drop not null');
    await runner.query(
      'alter table oauth_grants add constraint oauth_grants_organization check (organization_id is not null)',
    );
    for (const [table, column] of FOREIGN_KEYS) {
      const parent = column === 'key_id' ? 'api_keys' : 'oauth_grants';
      await runner.query(
        `alter table ${table} add foreign key (${column}) references ${parent} (id) on delete cascade`,
      );
    }
  }
}
