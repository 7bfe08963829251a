import type { MigrationInterface, QueryRunner } from 'typeorm';

/** PostgreSQL 16 and later require the SET option and not just membership. */
const MAY_SWITCH_TO_TENANT_ROLE = `(
  exists (select from pg_roles where rolname = 'latitude_app') and
  pg_has_role(current_user, (select oid from pg_roles where rolname = 'latitude_app'),
    case when current_setting('server_version_num')::int >= 160000 then 'set' else 'member' end))`;

const CREATE_TENANT_ROLE = `
  do $$ begin
    if not exists (select from pg_roles where rolname = 'latitude_app') then
      create role latitude_app nologin;
    end if;
    if not ${MAY_SWITCH_TO_TENANT_ROLE} then
      grant latitude_app to current_user;
    end if;
  exception
    when insufficient_privilege then
      raise notice 'role latitude_app is not available to %', current_user;
    when duplicate_object or unique_violation then null;
  end $$`;

const ORGANIZATIONS = `
  create table organizations (
    id uuid primary key,
    name text not null,
    phone_region char(2) not null,
    created_at timestamptz(3) not null default now()
  )`;

const API_KEYS = `
  create table api_keys (
    id uuid primary key,
    organization_id uuid not null references organizations (id),
    name text not null,
    key_hash bytea not null unique,
    key_start text not null,
    scopes text[] not null,
    user_id uuid,
    created_at timestamptz(3) not null default now(),
    expires_at timestamptz(3),
    last_used_at timestamptz(3),
    revoked_at timestamptz(3)
  )`;

/**
 * The text that a search looks through: each part in lower case, separated by a character that no
 * search term contains. The collation of the names would convert ASCII letters only.
 */
const LEADS_SEARCH_TEXT = String.raw`lower((
  translate(first_name || coalesce(' ' || last_name, ''), E'\x1f', ' ')
  || E'\x1f' || coalesce(translate(email, E'\x1f', ' '), '')
  || E'\x1f' || coalesce(phone, '')
  || E'\x1f' || coalesce(regexp_replace(phone, '[^0-9]', '', 'g'), '')
  ) collate "default")`;

// Names sort by code point, so that their order does not depend on the locale of the server.
const LEADS = `
  create table leads (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    first_name text collate "C" not null,
    last_name text collate "C",
    phone text,
    email text,
    company text,
    address_street text,
    city text,
    state text,
    zip text,
    status text,
    temperature text,
    source text not null,
    notes text,
    tags text[] not null,
    custom_fields jsonb not null,
    lead_score smallint not null,
    created_at timestamptz(3) not null default date_trunc('milliseconds', now()),
    updated_at timestamptz(3) not null default date_trunc('milliseconds', now()),
    sms_opted_out boolean not null,
    on_dnc_list boolean not null,
    deleted_at timestamptz(3),
    phone_compared text,
    email_compared text,
    search_text text not null generated always as (${LEADS_SEARCH_TEXT}) stored,
    primary key (organization_id, id)
  )`;

const LEADS_INDEXES = [
  `create unique index leads_email_key on leads (organization_id, email_compared)`,
  `create unique index leads_phone_key on leads (organization_id, phone_compared)`,
  `create index leads_by_created_at on leads (organization_id, created_at, id)`,
  `create index leads_by_updated_at on leads (organization_id, updated_at, id)`,
  `create index leads_by_first_name on leads (organization_id, first_name, id)`,
  `create index leads_by_last_name on leads (organization_id, last_name, id)`,
  // Empty last names come last in both directions. One index cannot serve both.
  `create index leads_by_last_name_desc on leads
     (organization_id, last_name desc nulls last, id desc)`,
  `create index leads_by_lead_score on leads (organization_id, lead_score, id)`,
  `create index leads_by_status on leads (organization_id, status, created_at, id)`,
  `create index leads_by_temperature on leads (organization_id, temperature, created_at, id)`,
  `create index leads_search on leads using gin (organization_id, search_text gin_trgm_ops)`,
].map((index) => `${index} where deleted_at is null`);

// Row-level security allows only leakproof functions in index conditions. LIKE leaks no rows, but
// only a superuser can mark it. Without the mark, a search reads every row of the organization.
const LET_SEARCH_USE_ITS_INDEX = `
  do $$ begin
    if (select rolsuper from pg_roles where rolname = current_user) then
      alter function pg_catalog.textlike(text, text) leakproof;
    end if;
  end $$`;

// The TypeORM CLI reads the expressions of generated columns from this table.
const TYPEORM_METADATA = `
  create table if not exists typeorm_metadata (
    type varchar not null, database varchar, schema varchar, "table" varchar, name varchar, value text
  )`;

const DESCRIBE_SEARCH_TEXT = `
  insert into typeorm_metadata
  values ('GENERATED_COLUMN', current_database(), current_schema(), 'leads', 'search_text', $1)`;

export class InitialSchema1763683200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const statements = [
      `create extension if not exists pg_trgm`,
      `create extension if not exists btree_gin`,
      CREATE_TENANT_ROLE,
      ORGANIZATIONS,
      API_KEYS,
      `create index api_keys_by_organization on api_keys (organization_id, id)`,
      LEADS,
      ...LEADS_INDEXES,
      ...protect('leads'),
      LET_SEARCH_USE_ITS_INDEX,
      TYPEORM_METADATA,
    ];
    for (const statement of statements) await runner.query(statement);
    await runner.query(DESCRIBE_SEARCH_TEXT, [LEADS_SEARCH_TEXT]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table leads, api_keys, organizations, typeorm_metadata');
  }
}

/** Puts a table under row-level security: a row is visible to its organization alone. */
function protect(table: string): string[] {
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy tenant on ${table} using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
    `do $$ begin
       if exists (select from pg_roles where rolname = 'latitude_app') then
         grant select, insert, update, delete on ${table} to latitude_app;
       end if;
     end $$`,
  ];
}
