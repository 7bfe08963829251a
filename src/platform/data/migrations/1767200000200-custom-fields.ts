import type { MigrationInterface, QueryRunner } from 'typeorm';

const TIME = `timestamptz(3) not null default date_trunc('milliseconds', now())`;

const TABLES = [
  `create table custom_fields (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    key text not null,
    label text,
    description text,
    type text not null,
    options jsonb not null,
    required boolean not null,
    "unique" boolean not null,
    filterable boolean not null,
    created_at ${TIME},
    updated_at ${TIME},
    deleted_at timestamptz(3),
    primary key (organization_id, id)
  )`,
  'create unique index custom_fields_key on custom_fields (organization_id, key) where deleted_at is null',
  'create index custom_fields_by_created_at on custom_fields (organization_id, created_at, id) where deleted_at is null',
  'create index custom_fields_by_deleted_at on custom_fields (organization_id, deleted_at) where deleted_at is not null',
  // What the trigger on leads enforces. While a definition is made or changed, a pending rule is enforced as well.
  `create table custom_field_rules (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    field_id uuid not null,
    key text not null,
    type text not null,
    options text[] not null,
    required boolean not null,
    is_unique boolean not null,
    is_filterable boolean not null,
    status text not null,
    leased_until timestamptz(3),
    primary key (organization_id, id)
  )`,
  // The values of unique and filterable fields.
  `create table custom_field_values (
    organization_id uuid not null references organizations (id),
    lead_id uuid not null,
    rule_id uuid not null,
    position smallint not null,
    is_unique boolean not null,
    text_value text collate "C",
    number_value float8,
    date_value date,
    time_value timestamptz(3),
    primary key (organization_id, lead_id, rule_id, position)
  )`,
  `create unique index custom_field_values_unique on custom_field_values
    (organization_id, rule_id, text_value, number_value, date_value, time_value) nulls not distinct where is_unique`,
  ...['text', 'number', 'date', 'time'].map(
    (kind) => `create index custom_field_values_by_${kind} on custom_field_values
      (organization_id, rule_id, ${kind}_value, lead_id) where ${kind}_value is not null`,
  ),
];

/** An ISO 8601 date or time as fields of times accept it. PostgreSQL knows offsets of less than 16 hours. */
const ISO = String.raw`^\d{4}-\d\d-\d\d([Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-](0\d|1[0-5])(:?[0-5]\d)?)?)?$`;

const FUNCTIONS = [
  // The time of a text, to the millisecond below; null if it is none.
  `create function custom_field_time(given text) returns timestamptz language plpgsql stable as $$
    declare
      found timestamptz;
    begin
      if given !~ '${ISO}' then return null; end if;
      found := (upper(regexp_replace(given, '(\\.\\d{3})\\d+', '\\1')) || case
        when length(given) = 10 then 'T00:00Z'
        when given ~ '([Zz]|[+-]\\d\\d(:?\\d\\d)?)$' then ''
        else 'Z' end)::timestamptz;
      return case when found between '0001-01-01T00:00Z' and '9999-12-31T23:59:59.999Z' then found end;
    exception when data_exception then
      return null;
    end $$`,
  // What is wrong with a value; null if it fits.
  `create function custom_field_problem(type text, options text[], is_stored boolean, given jsonb) returns text
    language plpgsql stable set search_path from current as $$
    declare
      kind text := jsonb_typeof(given);
      content text := given #>> '{}';
    begin
      case type
        when 'text' then
          if kind <> 'string' then return 'must be a string'; end if;
          if is_stored and length(content) > 500 then return 'must be at most 500 characters'; end if;
        when 'number' then
          if kind <> 'number' then return 'must be a number'; end if;
        when 'boolean' then
          if kind <> 'boolean' then return 'must be true or false'; end if;
        when 'date' then
          if kind <> 'string' or length(content) <> 10 or custom_field_time(content) is null then
            return 'must be a date such as 2026-01-31';
          end if;
        when 'datetime' then
          if kind <> 'string' or custom_field_time(content) is null then
            return 'must be an ISO 8601 date-time such as 2026-01-31T09:30:00Z';
          end if;
        when 'select' then
          if kind <> 'string' or content <> all (options) then
            return 'must be one of ' || array_to_string(options, ', ');
          end if;
        when 'multi_select' then
          if kind <> 'array' or exists (select from jsonb_array_elements(given) item
              where jsonb_typeof(item) <> 'string' or item #>> '{}' <> all (options)) then
            return 'must be an array of ' || array_to_string(options, ', ');
          end if;
      end case;
      return null;
    end $$`,
  // The rows of a value that fits: one, or one for each option of a multi_select.
  `create function custom_field_rows(type text, given jsonb)
    returns table (item_position smallint, item_text text, item_number float8, item_date date, item_time timestamptz)
    language sql stable set search_path from current as $$
    select (place - 1)::smallint,
      case when type in ('text', 'boolean', 'select', 'multi_select') then item #>> '{}' end,
      case when type = 'number' then (item #>> '{}')::float8 end,
      case when type = 'date' then (item #>> '{}')::date end,
      case when type = 'datetime' then custom_field_time(item #>> '{}') end
    from jsonb_array_elements(case when type = 'multi_select' then given else jsonb_build_array(given) end)
      with ordinality as items (item, place) $$`,
  // Refuses fields that do not fit, and stores the values of unique and filterable ones. Both fields are null if the lead is
  // deleted, and the earlier ones if it is new. The errors have the class that every release answers with 400 and 409.
  `create function enforce_custom_field_rules(organization uuid, lead uuid, is_new boolean, fields jsonb, earlier_fields jsonb)
    returns void language plpgsql set search_path from current as $$
    declare
      rule custom_field_rules;
      given jsonb;
      earlier jsonb;
      problem text;
    begin
      for rule in select * from custom_field_rules
        where organization_id = organization and status <> 'dry_run' order by key, id
      loop
        given := nullif(fields -> rule.key, 'null');
        earlier := nullif(earlier_fields -> rule.key, 'null');
        if given is not null then
          problem := custom_field_problem(rule.type, rule.options, rule.is_unique or rule.is_filterable, given);
        else
          problem := case when rule.required and fields is not null and (is_new or earlier is not null)
            then 'is required' end;
        end if;
        if problem is not null then
          raise exception using errcode = 'invalid_parameter_value', message = problem,
            column = 'custom_fields.' || rule.key;
        end if;
        continue when not (rule.is_unique or rule.is_filterable) or given is not distinct from earlier;
        if earlier is not null then
          delete from custom_field_values
          where organization_id = organization and lead_id = lead and rule_id = rule.id;
        end if;
        continue when given is null;
        begin
          insert into custom_field_values
          select organization, lead, rule.id, item_position, rule.is_unique, item_text, item_number,
            item_date, item_time
          from custom_field_rows(rule.type, given);
        exception when unique_violation then
          raise exception using errcode = 'unique_violation', message = 'belongs to another lead',
            constraint = 'custom_fields.' || rule.key;
        end;
      end loop;
    end $$`,
  // These triggers read the rules in a snapshot of their own, after the rows were written: a transaction that began before a
  // rule was committed is waited for. An insert looks once for rules, however many leads it has. Row-level security leaves
  // the rules of the organization.
  `create function leads_custom_fields_insert() returns trigger language plpgsql set search_path from current as $$
    begin
      if exists (select from custom_field_rules) then
        perform enforce_custom_field_rules(organization_id, id, true, case when deleted_at is null then custom_fields end, null)
        from new_rows;
      end if;
      return null;
    end $$`,
  `create function leads_custom_fields_update() returns trigger language plpgsql set search_path from current as $$
    begin
      if exists (select from custom_field_rules where organization_id = new.organization_id) then
        perform enforce_custom_field_rules(new.organization_id, new.id, false,
          case when new.deleted_at is null then new.custom_fields end,
          case when old.deleted_at is null then old.custom_fields end);
      end if;
      return null;
    end $$`,
  `create function leads_custom_fields_delete() returns trigger language plpgsql set search_path from current as $$
    begin
      delete from custom_field_values where organization_id = old.organization_id and lead_id = old.id;
      return null;
    end $$`,
];

const OWN_TABLES = ['custom_fields', 'custom_field_rules', 'custom_field_values'];

const PROTECTION = OWN_TABLES.flatMap((table) => [
  `alter table ${table} enable row level security`,
  `alter table ${table} force row level security`,
  `create policy tenant on ${table} using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  `create trigger refuse_entity_manager before insert or update or delete on ${table}
     for each statement execute function refuse_entity_manager()`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on ${table} to latitude_app;
     end if;
   end $$`,
]);

/** Last, because they lock tables in use. */
const IN_USE = [
  `alter table organizations add column unknown_fields text not null default 'allow',
     add column definitions_version integer not null default 0`,
  `create trigger leads_custom_fields_insert after insert on leads referencing new table as new_rows
     for each statement execute function leads_custom_fields_insert()`,
  `create trigger leads_custom_fields_update after update of custom_fields, deleted_at on leads
     for each row execute function leads_custom_fields_update()`,
  `create trigger leads_custom_fields_delete after delete on leads
     for each row execute function leads_custom_fields_delete()`,
];

const TRIGGERS = ['insert', 'update', 'delete'].map((name) => `leads_custom_fields_${name}`);

const FUNCTIONS_OF_FIELDS = [
  ...[
    'enforce_custom_field_rules',
    'custom_field_rows',
    'custom_field_problem',
    'custom_field_time',
  ],
];

/** Definitions of custom fields, the rules that they enforce, and the values of those that are unique or filterable. */
export class CustomFields1767200000200 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because tables in use are locked until the commit.
    await runner.query([...TABLES, ...FUNCTIONS, ...PROTECTION, ...IN_USE].join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const name of TRIGGERS) await runner.query(`drop function ${name} cascade`);
    for (const name of FUNCTIONS_OF_FIELDS) await runner.query(`drop function ${name}`);
    await runner.query(`drop table ${OWN_TABLES.join(', ')}`);
    await runner.query(
      'alter table organizations drop column unknown_fields, drop column definitions_version',
    );
  }
}
