/** Returns a `statement` that selects all rows of all tables as text, with the name of the table. */
export const SELECT_DUMP_STATEMENT = `
  select string_agg(format(
    'select %L as name, (to_jsonb(t) - ''last_used_at'')::text as row from %I t',
    table_name, table_name), ' union all ') || ' order by 1, 2' as statement
  from information_schema.tables
  where table_schema = 'public' and table_type = 'BASE TABLE'`;
