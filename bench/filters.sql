-- A million leads in one organization and ten in each of 1,000 others, with a task for every second lead.
-- For an empty database with one organization: psql -v big=ID -f bench/filters.sql, then `latitude counters repair`.
set session_replication_role = replica;
insert into organizations (id, name)
select md5('organization ' || n)::uuid, 'Organization ' || n from generate_series(1, 1000) n;
create temp table numbered as
select n, case when n <= 1000000 then :'big'::uuid else md5('organization ' || 1 + n % 1000)::uuid end as organization
from generate_series(1, 1010000) n;
insert into leads (organization_id, id, first_name, last_name, email, email_compared, company, city, zip, status,
  temperature, source, tags, tags_folded, custom_fields, lead_score, sms_opted_out, on_dnc_list, search_text,
  created_at, updated_at)
select organization, md5('lead ' || n)::uuid, 'Ada ' || n, case when n % 10 = 0 then 'Müller' else 'Lovelace' end,
  'ada' || n || '@example.com', 'ada' || n || '@example.com', 'Company ' || n % 5000,
  (array['Graz', 'Wien', 'Linz', 'Oakland', 'Paris'])[1 + n % 5], (80000 + n % 20000)::text,
  (array['new', 'open', 'won', 'lost'])[1 + n % 4],
  case when n % 250 = 0 then 'hot' when n % 3 = 0 then 'warm' else 'cold' end,
  (array['website', 'referral', 'import', 'api', 'other'])[1 + n / 5 % 5], array['roof'], E'\x1froof\x1f',
  jsonb_build_object('roof_age', n % 40), n % 100, false, false,
  E'\x02ada' || n || '@example.com' || E'\x1f' || 'company ' || n % 5000 || E'\x1fada ' || n || E'\x1e',
  timestamptz '2024-01-01Z' + n * interval '1 minute', timestamptz '2024-01-01Z' + n * interval '1 minute'
from numbered;
insert into tasks (organization_id, id, contact_id, title, status, priority, created_by_ai, created_at, updated_at)
select organization, md5('task ' || n)::uuid, md5('lead ' || n)::uuid, 'Call ' || n,
  case when n % 6 = 0 then 'open' else 'completed' end, 'medium', false,
  timestamptz '2024-01-01Z' + n * interval '1 minute', timestamptz '2024-01-01Z' + n * interval '1 minute'
from numbered where n % 2 = 0;
set session_replication_role = origin;
vacuum analyze leads;
vacuum analyze tasks;
