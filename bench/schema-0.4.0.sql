-- Written by freeze-schema.mjs.
CREATE EXTENSION pg_trgm WITH SCHEMA public;
CREATE COLLATION public.latitude_names (provider = icu, locale = 'und');

CREATE OR REPLACE FUNCTION public.leads_count_delete()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$ begin
         insert into record_counts as counts
           (organization_id, resource, filter, value, shard, records, version)
         select organization_id, 'leads', filter, value,
           pg_backend_pid() % 32, sum(change), 1 + (random() * 1000000)::int
         from (select organization_id, -1 as change, status, temperature, source from old_rows where deleted_at is null) changed
           cross join lateral (values ('', ''), ('status', status::text), ('temperature', temperature::text), ('source', source::text)) as each_count (filter, value)
         where value is not null
         group by organization_id, filter, value having filter = '' or sum(change) <> 0
         order by organization_id, filter, value
         on conflict (organization_id, resource, filter, value, shard) do update
  set records = counts.records + excluded.records, version = counts.version + excluded.version;
         return null;
       end $function$;

CREATE OR REPLACE FUNCTION public.leads_count_insert()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$ begin
         insert into record_counts as counts
           (organization_id, resource, filter, value, shard, records, version)
         select organization_id, 'leads', filter, value,
           pg_backend_pid() % 32, sum(change), 1 + (random() * 1000000)::int
         from (select organization_id, 1 as change, status, temperature, source from new_rows where deleted_at is null) changed
           cross join lateral (values ('', ''), ('status', status::text), ('temperature', temperature::text), ('source', source::text)) as each_count (filter, value)
         where value is not null
         group by organization_id, filter, value having filter = '' or sum(change) <> 0
         order by organization_id, filter, value
         on conflict (organization_id, resource, filter, value, shard) do update
  set records = counts.records + excluded.records, version = counts.version + excluded.version;
         return null;
       end $function$;

CREATE OR REPLACE FUNCTION public.leads_count_truncate()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$ begin
       update record_counts set records = 0, version = version + 1 where resource = 'leads';
       return null;
     end $function$;

CREATE OR REPLACE FUNCTION public.leads_count_update()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$ begin
         insert into record_counts as counts
           (organization_id, resource, filter, value, shard, records, version)
         select organization_id, 'leads', filter, value,
           pg_backend_pid() % 32, sum(change), 1 + (random() * 1000000)::int
         from (select organization_id, -1 as change, status, temperature, source from old_rows where deleted_at is null union all select organization_id, 1 as change, status, temperature, source from new_rows where deleted_at is null) changed
           cross join lateral (values ('', ''), ('status', status::text), ('temperature', temperature::text), ('source', source::text)) as each_count (filter, value)
         where value is not null
         group by organization_id, filter, value having filter = '' or sum(change) <> 0
         order by organization_id, filter, value
         on conflict (organization_id, resource, filter, value, shard) do update
  set records = counts.records + excluded.records, version = counts.version + excluded.version;
         return null;
       end $function$;

CREATE OR REPLACE FUNCTION public.leads_search_text()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  
  begin
    if tg_argv[0] = 'mark' then
      new.search_text := E'\x01' || new.search_text;
    elsif starts_with(new.search_text, E'\x01') then
      new.search_text := substr(new.search_text, 2);
    else
      new.search_text := '';
    end if;
    return new;
  end $function$;

CREATE OR REPLACE FUNCTION public.leads_tags_folded()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO '$user', 'public'
AS $function$ begin if new.tags <> '{}' or new.tags_folded is not null then
          if strpos(array_to_string(new.tags, ''), E'\x1f') = 0 then
            new.tags_folded := E'\x1f'
              || lower(nullif(array_to_string(new.tags, E'\x1f'), '') collate latitude_names) || E'\x1f';
          else
            new.tags_folded := (select
  E'\x1f' || lower(string_agg(translate(tag, E'\x1f', ' '), E'\x1f') collate latitude_names) || E'\x1f'
  from unnest(new.tags) tag);
          end if;
        end if; return new; end $function$;

CREATE OR REPLACE FUNCTION public.refuse_entity_manager()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      begin if current_setting('latitude.entity_manager', true) = 'on' then raise exception 'the entity manager of a transaction cannot write to %', tg_table_name
  using errcode = 'insufficient_privilege',
    hint = 'Use the service of its module, which also writes events and computed columns.'; end if; return null; end $function$;

CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    organization_id uuid NOT NULL,
    name text NOT NULL,
    key_hash bytea NOT NULL,
    key_start text NOT NULL,
    scopes text[] NOT NULL,
    user_id uuid,
    created_at timestamp(3) with time zone DEFAULT now() NOT NULL,
    expires_at timestamp(3) with time zone,
    last_used_at timestamp(3) with time zone,
    revoked_at timestamp(3) with time zone,
    ends_with uuid[] DEFAULT '{}'::uuid[] NOT NULL,
    successor_id uuid,
    lifetime_ms bigint,
    confirmations text DEFAULT 'never'::text NOT NULL
);

CREATE TABLE public.leads (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    first_name text NOT NULL COLLATE pg_catalog."C",
    last_name text COLLATE pg_catalog."C",
    phone text,
    email text,
    company text,
    address_street text,
    city text,
    state text,
    zip text,
    status text,
    temperature text,
    source text NOT NULL,
    notes text,
    tags text[] NOT NULL,
    custom_fields jsonb NOT NULL,
    lead_score smallint NOT NULL,
    created_at timestamp(3) with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    updated_at timestamp(3) with time zone DEFAULT date_trunc('milliseconds'::text, now()) NOT NULL,
    sms_opted_out boolean NOT NULL,
    on_dnc_list boolean NOT NULL,
    deleted_at timestamp(3) with time zone,
    phone_compared text,
    email_compared text,
    search_text text NOT NULL,
    external_id text,
    tags_folded text,
    merged_into uuid
);

ALTER TABLE ONLY public.leads ALTER COLUMN search_text SET STATISTICS 300;

ALTER TABLE ONLY public.leads ALTER COLUMN tags_folded SET STATISTICS 300;

CREATE TABLE public.record_counts (
    organization_id uuid NOT NULL,
    resource text NOT NULL COLLATE pg_catalog."C",
    filter text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C",
    shard smallint NOT NULL,
    records bigint NOT NULL,
    version bigint NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.leads
    ADD CONSTRAINT leads_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.record_counts
    ADD CONSTRAINT record_counts_pkey PRIMARY KEY (organization_id, resource, filter, value, shard);

CREATE INDEX api_keys_by_organization ON public.api_keys USING btree (organization_id, id);

CREATE INDEX leads_by_created_at ON public.leads USING btree (organization_id, created_at, id) INCLUDE (search_text) WHERE (deleted_at IS NULL);

CREATE INDEX leads_by_lead_score ON public.leads USING btree (organization_id, lead_score, id) WHERE (deleted_at IS NULL);

CREATE INDEX leads_by_source ON public.leads USING btree (organization_id, source, created_at, id) WHERE (deleted_at IS NULL);

CREATE INDEX leads_by_status ON public.leads USING btree (organization_id, status, created_at, id) WHERE (deleted_at IS NULL);

CREATE INDEX leads_by_tags ON public.leads USING gin (tags_folded public.gin_trgm_ops) WITH (gin_pending_list_limit='256') WHERE ((deleted_at IS NULL) AND (tags_folded IS NOT NULL));

CREATE INDEX leads_by_temperature ON public.leads USING btree (organization_id, temperature, created_at, id) WHERE (deleted_at IS NULL);

CREATE INDEX leads_by_updated_at ON public.leads USING btree (organization_id, updated_at, id) WHERE (deleted_at IS NULL);

CREATE INDEX leads_deleted ON public.leads USING btree (organization_id, deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE UNIQUE INDEX leads_email_key ON public.leads USING btree (organization_id, email_compared) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX leads_external_id_key ON public.leads USING btree (organization_id, external_id) WHERE ((deleted_at IS NULL) AND (external_id IS NOT NULL));

CREATE INDEX leads_merged ON public.leads USING btree (organization_id, merged_into) WHERE (merged_into IS NOT NULL);

CREATE UNIQUE INDEX leads_phone_key ON public.leads USING btree (organization_id, phone_compared) WHERE (deleted_at IS NULL);

CREATE INDEX leads_search ON public.leads USING gin (search_text public.gin_trgm_ops) WITH (gin_pending_list_limit='256') WHERE (deleted_at IS NULL);

CREATE INDEX leads_sorted_by_first_name ON public.leads USING btree (organization_id, first_name COLLATE public.latitude_names, id) WHERE (deleted_at IS NULL);

CREATE INDEX leads_sorted_by_last_name ON public.leads USING btree (organization_id, last_name COLLATE public.latitude_names, id) WHERE (deleted_at IS NULL);

CREATE INDEX leads_sorted_by_last_name_desc ON public.leads USING btree (organization_id, last_name COLLATE public.latitude_names DESC NULLS LAST, id DESC) WHERE (deleted_at IS NULL);

CREATE INDEX leads_to_refill ON public.leads USING btree (organization_id, id) WHERE ((deleted_at IS NULL) AND (search_text !~~ '%'::text));

CREATE TRIGGER leads_count_delete AFTER DELETE ON public.leads REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION public.leads_count_delete();

CREATE TRIGGER leads_count_insert AFTER INSERT ON public.leads REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.leads_count_insert();

CREATE TRIGGER leads_count_truncate AFTER TRUNCATE ON public.leads FOR EACH STATEMENT EXECUTE FUNCTION public.leads_count_truncate();

CREATE TRIGGER leads_count_update AFTER UPDATE ON public.leads REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION public.leads_count_update();

CREATE TRIGGER leads_search_text_1 BEFORE INSERT ON public.leads FOR EACH ROW WHEN ((new.search_text IS NULL)) EXECUTE FUNCTION public.leads_search_text('fill');

CREATE TRIGGER leads_search_text_2 BEFORE UPDATE OF search_text ON public.leads FOR EACH ROW WHEN (((new.search_text = old.search_text) AND (((((new.first_name IS DISTINCT FROM old.first_name) OR (new.last_name IS DISTINCT FROM old.last_name)) OR (new.company IS DISTINCT FROM old.company)) OR (new.email IS DISTINCT FROM old.email)) OR (new.phone IS DISTINCT FROM old.phone)))) EXECUTE FUNCTION public.leads_search_text('mark');

CREATE TRIGGER leads_search_text_3 BEFORE UPDATE OF first_name, last_name, company, email, phone ON public.leads FOR EACH ROW WHEN (((((((new.first_name IS DISTINCT FROM old.first_name) OR (new.last_name IS DISTINCT FROM old.last_name)) OR (new.company IS DISTINCT FROM old.company)) OR (new.email IS DISTINCT FROM old.email)) OR (new.phone IS DISTINCT FROM old.phone)) AND ((NOT (new.search_text IS DISTINCT FROM old.search_text)) OR starts_with(new.search_text, ''::text)))) EXECUTE FUNCTION public.leads_search_text('fill');

CREATE TRIGGER leads_tags_folded BEFORE INSERT OR UPDATE OF tags ON public.leads FOR EACH ROW EXECUTE FUNCTION public.leads_tags_folded();

CREATE TRIGGER refuse_entity_manager BEFORE INSERT OR DELETE OR UPDATE ON public.leads FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_entity_manager();
