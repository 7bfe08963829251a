import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The values of new organizations that do not name their own, in one row. A server that starts stores its settings there.
 * Release 0.3.0 keeps them in the default of the column, which a start altered, and which is the first value here.
 */
export class OrganizationDefaults1767000000500 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create table organization_defaults (
      is_only boolean primary key default true check (is_only),
      phone_region char(2) not null
    )`);
    await runner.query(`do $$ begin
      execute (select 'insert into organization_defaults (phone_region) values (' || pg_get_expr(adbin, adrelid) || ')'
        from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
        where adrelid = 'organizations'::regclass and attname = 'phone_region');
    end $$`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table organization_defaults');
  }
}
