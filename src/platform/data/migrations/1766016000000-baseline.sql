create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Row-level security allows only leakproof functions in index conditions. LIKE leaks no rows, but only a superuser can
-- mark it. Without the mark, a search reads every row of the organization.
do $$ begin
  if (select rolsuper from pg_roles where rolname = current_user) then
    alter function pg_catalog.textlike(text, text) leakproof;
  end if;
end $$;

-- The root collation of ICU, by which names are sorted. It is deterministic: only equal strings are equal.
create collation if not exists latitude_names (provider = icu, locale = 'und', deterministic = true);

create table organizations (
  id uuid primary key,
  name text not null,
  phone_region char(2) not null default 'US',
  created_at timestamptz(3) not null default now()
);

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
);
create index api_keys_by_organization on api_keys (organization_id, id);

create table mcp_sessions (
  id uuid primary key,
  key_id uuid not null references api_keys (id) on delete cascade,
  protocol_version text not null,
  client_name text not null,
  subscriptions text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now(),
  -- A newer stream of a session replaces an older one on any instance.
  stream_number integer not null default 0,
  expires_at timestamptz(3) not null default now() + interval '30 minutes'
);

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
  search_text text not null,
  primary key (organization_id, id)
);
-- With the default of 100, PostgreSQL sometimes took a term in every 20th record for a rare one.
alter table leads alter column search_text set statistics 300;
create unique index leads_email_key on leads (organization_id, email_compared) where deleted_at is null;
create unique index leads_phone_key on leads (organization_id, phone_compared) where deleted_at is null;
-- Includes the search text, so that a search can read the index only.
create index leads_by_created_at on leads (organization_id, created_at, id) include (search_text) where deleted_at is null;
create index leads_by_updated_at on leads (organization_id, updated_at, id) where deleted_at is null;
create index leads_sorted_by_first_name on leads (organization_id, first_name collate latitude_names, id) where deleted_at is null;
create index leads_sorted_by_last_name on leads (organization_id, last_name collate latitude_names, id) where deleted_at is null;
-- Empty last names come last in both directions. One index cannot serve both.
create index leads_sorted_by_last_name_desc on leads
  (organization_id, last_name collate latitude_names desc nulls last, id desc) where deleted_at is null;
create index leads_by_lead_score on leads (organization_id, lead_score, id) where deleted_at is null;
create index leads_by_status on leads (organization_id, status, created_at, id) where deleted_at is null;
create index leads_by_temperature on leads (organization_id, temperature, created_at, id) where deleted_at is null;
-- With organization_id in the index, each search of a large organization read all of its rows. So did a pending list of
-- 4 MB, which is the default limit.
create index leads_search on leads using gin (search_text gin_trgm_ops) with (gin_pending_list_limit = 256) where deleted_at is null;
-- The leads whose search text a job of the server writes again: those without the mark \x02.
create index leads_to_refill on leads (organization_id, id) where deleted_at is null and search_text not like E'\x02%';
create index leads_deleted on leads (organization_id, deleted_at) where deleted_at is not null;

-- Leaves the search text of leads that SQL writes without it empty, for that job. An update that sets the same text again
-- (such as after a change of case in a name) looks like one that omits it. The second trigger runs only if the text is
-- set, and marks it.
create function leads_search_text() returns trigger language plpgsql as $$
  begin
    if tg_argv[0] = 'mark' then
      new.search_text := E'\x01' || new.search_text;
    elsif starts_with(new.search_text, E'\x01') then
      new.search_text := substr(new.search_text, 2);
    else
      new.search_text := '';
    end if;
    return new;
  end $$;
create trigger leads_search_text_1 before insert on leads
  for each row when (new.search_text is null) execute function leads_search_text('fill');
create trigger leads_search_text_2 before update of search_text on leads
  for each row when (new.search_text = old.search_text
    and (new.first_name, new.last_name, new.company, new.email, new.phone)
      is distinct from (old.first_name, old.last_name, old.company, old.email, old.phone))
  execute function leads_search_text('mark');
create trigger leads_search_text_3 before update of first_name, last_name, company, email, phone on leads
  for each row when ((new.first_name, new.last_name, new.company, new.email, new.phone)
      is distinct from (old.first_name, old.last_name, old.company, old.email, old.phone)
    and (new.search_text is not distinct from old.search_text or starts_with(new.search_text, E'\x01')))
  execute function leads_search_text('fill');

create table appointments (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  lead_id uuid not null,
  start_time timestamptz(3) not null,
  end_time timestamptz(3) not null,
  type text,
  location text,
  notes text,
  status text not null,
  booked_by text not null,
  outcome text,
  outcome_notes text,
  created_at timestamptz(3) not null default date_trunc('milliseconds', now()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', now()),
  primary key (organization_id, id),
  foreign key (organization_id, lead_id) references leads (organization_id, id) on delete cascade
);
create index appointments_by_start_time on appointments (organization_id, start_time, id);
create index appointments_by_created_at on appointments (organization_id, created_at, id);
create index appointments_by_status on appointments (organization_id, status, start_time, id);
create index appointments_by_lead on appointments (organization_id, lead_id, start_time, id);

create table tasks (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  title text not null,
  description text,
  priority text not null,
  status text not null,
  due_date timestamptz(3),
  contact_id uuid,
  assigned_to_user_id uuid,
  created_by_user_id uuid,
  created_by_ai boolean not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', now()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', now()),
  deleted_at timestamptz(3),
  -- Priorities sort by their rank, through an index.
  priority_rank integer not null generated always as (array_position(array['low', 'medium', 'high', 'urgent'], priority)) stored,
  primary key (organization_id, id),
  foreign key (organization_id, contact_id) references leads (organization_id, id) on delete set null (contact_id)
);
create index tasks_by_created_at on tasks (organization_id, created_at, id) where deleted_at is null;
create index tasks_by_due_date on tasks (organization_id, due_date, id) where deleted_at is null;
-- Tasks without a due date come last in both directions. One index cannot serve both.
create index tasks_by_due_date_desc on tasks (organization_id, due_date desc nulls last, id desc) where deleted_at is null;
create index tasks_by_priority on tasks (organization_id, priority_rank, id) where deleted_at is null;
create index tasks_by_status on tasks (organization_id, status, created_at, id) where deleted_at is null;
create index tasks_by_assignee on tasks (organization_id, assigned_to_user_id, created_at, id) where deleted_at is null;
-- The removal of a lead reads all of its tasks, including deleted ones.
create index tasks_by_contact on tasks (organization_id, contact_id, created_at, id);
create index tasks_deleted on tasks (organization_id, deleted_at) where deleted_at is not null;

-- The command line of TypeORM reads the expressions of generated columns from this table.
create table if not exists typeorm_metadata (
  type varchar not null, database varchar, schema varchar, "table" varchar, name varchar, value text
);
insert into typeorm_metadata values ('GENERATED_COLUMN', current_database(), current_schema(), 'tasks', 'priority_rank',
  $$array_position(
  array['low', 'medium', 'high', 'urgent'], priority)$$);

create table record_counts (
  organization_id uuid not null,
  resource text collate "C" not null,
  filter text collate "C" not null,
  value text collate "C" not null,
  shard smallint not null,
  records bigint not null,
  version bigint not null,
  primary key (organization_id, resource, filter, value, shard)
) with (fillfactor = 50);

create table idempotency_keys (
  organization_id uuid not null references organizations (id),
  key text collate "C" not null,
  route text collate "C" not null,
  content_hash bytea not null,
  status smallint not null,
  location text,
  etag text,
  body text not null,
  created_at timestamptz(3) not null default now(),
  record_ids uuid[],
  primary key (organization_id, key, route)
);
create index idempotency_keys_by_created_at on idempotency_keys (organization_id, created_at);

create table jobs (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  name text collate "C" not null,
  payload json not null,
  record_ids uuid[] not null,
  key text collate "C",
  ordering_key text collate "C",
  attempts integer not null default 0,
  run_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now(),
  failed_at timestamptz(3),
  last_error text,
  is_running boolean not null default false,
  run_again_at timestamptz(3),
  primary key (organization_id, id)
);
create index jobs_by_run_at on jobs (name, run_at) where failed_at is null;
create unique index jobs_by_key on jobs (organization_id, name, key) where key is not null and failed_at is null;
create index jobs_by_ordering_key on jobs (organization_id, name, ordering_key, id)
  where ordering_key is not null and failed_at is null;
create index jobs_by_failed_at on jobs (failed_at) where failed_at is not null;

create table job_schedules (
  name text collate "C" primary key,
  next_run_at timestamptz(3) not null,
  locked_until timestamptz(3)
);

-- Events of changed records: written here with the change, numbered and moved to `events` after its commit. Both tables
-- are without foreign keys, which each insert would check. The removal of an organization empties them last.
create table event_outbox (
  seq bigint generated always as identity primary key,
  organization_id uuid not null,
  type text collate "C" not null,
  record_id uuid not null,
  record json not null,
  changed text[] not null,
  key_id text,
  channel text,
  request_id text,
  origin integer not null default 0,
  created_at timestamptz(3) not null default clock_timestamp()
);
create table events (
  position bigint not null,
  organization_id uuid not null,
  type text collate "C" not null,
  record_id uuid not null,
  record json not null,
  changed text[] not null,
  key_id text,
  channel text,
  request_id text,
  origin integer not null default 0,
  created_at timestamptz(3) not null default clock_timestamp(),
  primary key (position)
) partition by range (position);
create table events_default partition of events default;
create index events_by_organization on events (organization_id, position);
create index events_by_record on events (record_id);

-- At most one row. Its lock admits one publisher at a time.
create table event_position (
  only_row boolean primary key default true check (only_row),
  last bigint not null default 0,
  expired_before bigint not null default 0
);

-- The durable handlers, each with the position of the last event that it has processed.
create table event_handlers (
  name text collate "C" primary key,
  position bigint not null,
  run_at timestamptz(3) not null default now(),
  claim uuid,
  failures integer not null default 0,
  last_error text
);

create table webhooks (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  url text not null,
  types text[] not null,
  description text,
  enabled boolean not null,
  scopes text[] not null,
  secret text not null,
  previous_secret text,
  previous_secret_expires_at timestamptz(3),
  failing_since timestamptz(3),
  disabled_reason text,
  created_at timestamptz(3) not null default date_trunc('milliseconds', now()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', now()),
  primary key (organization_id, id)
);
create index webhooks_by_created_at on webhooks (organization_id, created_at, id);

-- The order of `seq` is the order of the events of a record. A pending delivery without a `next_attempt_at` waits for an
-- earlier one of its webhook and record.
create table webhook_deliveries (
  organization_id uuid not null references organizations (id),
  id uuid not null,
  webhook_id uuid not null,
  seq bigint not null generated always as identity,
  event_id text collate "C" not null,
  type text not null,
  record_id uuid not null,
  body text not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  next_attempt_at timestamptz(3),
  last_attempt_at timestamptz(3),
  duration_ms integer,
  response_status integer,
  response_body text,
  error text,
  created_at timestamptz(3) not null default date_trunc('milliseconds', now()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', now()),
  primary key (organization_id, id),
  foreign key (organization_id, webhook_id) references webhooks (organization_id, id) on delete cascade
);
create unique index webhook_deliveries_by_event on webhook_deliveries (organization_id, webhook_id, event_id);
create index webhook_deliveries_by_webhook_id on webhook_deliveries (organization_id, webhook_id, created_at, id);
create index webhook_deliveries_by_created_at on webhook_deliveries (organization_id, created_at, id);
create index webhook_deliveries_by_record_id on webhook_deliveries (organization_id, record_id);
create index webhook_deliveries_due on webhook_deliveries (organization_id, webhook_id, next_attempt_at, seq)
  where status = 'pending' and next_attempt_at is not null;
create index webhook_deliveries_waiting on webhook_deliveries (organization_id, webhook_id, record_id, seq)
  where status = 'pending';
