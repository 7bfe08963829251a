import type { MigrationInterface, QueryRunner } from 'typeorm';

/** SQL: whether an appointment takes time of a resource. */
const takesTime = (row: string) =>
  `(${row}.resource_id is not null and ${row}.status not in ('cancelled', 'no_show'))`;

/**
 * Keeps the row of an appointment in `busy_times`, also for releases that do not know the table. A row stays as it is until the
 * times or the resource change, so that changed buffers rule later writes only.
 */
const KEEP_BUSY_TIMES = `create function keep_busy_times() returns trigger language plpgsql as $$
  begin
    if tg_op = 'DELETE' then
      delete from busy_times where organization_id = old.organization_id and id = old.id;
      return null;
    end if;
    if tg_op = 'UPDATE' and ${takesTime('old')} then
      if ${takesTime('new')} and (old.resource_id, old.start_time, old.end_time) = (new.resource_id, new.start_time, new.end_time)
        then return null;
      end if;
      delete from busy_times where organization_id = old.organization_id and id = old.id;
    end if;
    if ${takesTime('new')} then
      insert into busy_times
        (organization_id, id, resource_id, start_time, end_time, starts_at, ends_at, expires_at)
      select organization_id, new.id, id, new.start_time, new.end_time,
        new.start_time - make_interval(mins => buffer_before_minutes),
        new.end_time + make_interval(mins => buffer_after_minutes), 'infinity'
      from resources where organization_id = new.organization_id and id = new.resource_id;
    end if;
    return null;
  end $$`;

/** Deletes the expired holds of a resource before its time is taken, because the constraint looks at no clock. */
const DELETE_EXPIRED_HOLDS = `create function delete_expired_holds() returns trigger language plpgsql as $$
  begin
    delete from busy_times where organization_id = new.organization_id and resource_id = new.resource_id
      and key_id is not null and expires_at <= clock_timestamp();
    return new;
  end $$`;

const STATEMENTS = [
  `create table busy_times (
    organization_id uuid not null references organizations (id),
    id uuid not null,
    resource_id uuid not null,
    start_time timestamptz(3) not null,
    end_time timestamptz(3) not null,
    starts_at timestamptz(3) not null,
    ends_at timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    key_id uuid,
    created_at timestamptz(3) not null default date_trunc('milliseconds', now()),
    primary key (organization_id, id),
    foreign key (organization_id, resource_id) references resources (organization_id, id) on delete cascade,
    constraint busy_times_do_not_overlap exclude using gist
      (organization_id with =, resource_id with =, tstzrange(starts_at, ends_at) with &&)
  )`,
  'create index busy_times_of_resource on busy_times (organization_id, resource_id, ends_at, starts_at)',
  'create index busy_times_by_expires_at on busy_times (organization_id, expires_at, id)',
  // The expired holds of a resource are found without its appointments, which are many.
  'create index busy_times_of_holds on busy_times (organization_id, resource_id, expires_at) where key_id is not null',
  'alter table busy_times enable row level security',
  'alter table busy_times force row level security',
  `create policy tenant on busy_times
    using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on busy_times to latitude_app;
     end if;
   end $$`,
  KEEP_BUSY_TIMES,
  DELETE_EXPIRED_HOLDS,
  `create trigger delete_expired_holds before insert on busy_times
    for each row execute function delete_expired_holds()`,
  // What follows locks appointments until the commit.
  'alter table appointments add column resource_id uuid',
  // The foreign key is validated by a later migration.
  `alter table appointments add constraint appointments_organization_id_resource_id_fkey
    foreign key (organization_id, resource_id) references resources (organization_id, id)
    on delete set null (resource_id) not valid`,
  // Appointments without a resource, which most organizations have, call no function.
  `create trigger keep_busy_times_insert after insert on appointments
    for each row when (new.resource_id is not null) execute function keep_busy_times()`,
  `create trigger keep_busy_times_update after update of resource_id, start_time, end_time, status on appointments
    for each row when (new.resource_id is not null or old.resource_id is not null) execute function keep_busy_times()`,
  `create trigger keep_busy_times_delete after delete on appointments
    for each row when (old.resource_id is not null) execute function keep_busy_times()`,
];

/**
 * The time of resources that appointments and holds take, of which no two rows overlap. A row has the id of its appointment or
 * hold, and those of holds the key that made them. From `starts_at` to `ends_at` it has the buffers. The constraint needs the extension
 * `btree_gist` for its columns of the type uuid.
 */
export class BusyTimes1767300000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create extension if not exists btree_gist');
    // In one round trip, because it locks tables in use until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop function keep_busy_times() cascade;
      drop table busy_times;
      drop function delete_expired_holds();
      alter table appointments drop column resource_id`);
  }
}
