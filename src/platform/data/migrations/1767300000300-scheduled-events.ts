import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLE = [
  `create table scheduled_events (
    organization_id uuid not null,
    record_id uuid not null,
    type text collate "C" not null,
    due_at timestamptz(3) not null,
    primary key (organization_id, record_id, type, due_at)
  )`,
  'create index scheduled_events_by_due_at on scheduled_events (due_at, organization_id, type)',
  'alter table scheduled_events enable row level security',
  'alter table scheduled_events force row level security',
  `create policy tenant on scheduled_events
    using (organization_id = nullif(current_setting('app.organization_id', true), '')::uuid)`,
  `create policy worker on scheduled_events
    using (current_setting('app.job_worker', true) = 'on' and current_user <> 'latitude_app')`,
  `create trigger refuse_entity_manager before insert or update or delete on scheduled_events
    for each statement execute function refuse_entity_manager()`,
  `do $$ begin
     if exists (select from pg_roles where rolname = 'latitude_app') then
       grant select, insert, update, delete on scheduled_events to latitude_app;
     end if;
   end $$`,
];

const MAY_BE_OVERDUE = (row: string) =>
  `${row}.status in ('open', 'in_progress') and ${row}.deleted_at is null`;

/** Statements that lock tables in use. */
const TRIGGERS = [
  // A moment that has passed stays: the record itself says whether its event is still to be written. The conditions of the
  // triggers are short, because PostgreSQL parses them for each statement.
  `create function tasks_schedule_events() returns trigger language plpgsql set search_path from current
   as $$ begin
     if tg_op = 'UPDATE' then
       if new.due_date is not distinct from old.due_date and (${MAY_BE_OVERDUE('new')}) = (${MAY_BE_OVERDUE('old')}) then
         return null;
       end if;
       delete from scheduled_events where organization_id = new.organization_id and record_id = new.id
         and due_at > clock_timestamp();
     end if;
     if new.due_date > clock_timestamp() and ${MAY_BE_OVERDUE('new')} then
       insert into scheduled_events (organization_id, record_id, type, due_at)
       values (new.organization_id, new.id, 'task.overdue', new.due_date) on conflict do nothing;
     end if;
     return null;
   end $$`,
  `alter table event_outbox add column contactable boolean, add column remind_before_minutes integer`,
  `alter table events add column contactable boolean, add column remind_before_minutes integer`,
  `create trigger tasks_schedule_insert after insert on tasks for each row
   when (new.due_date is not null) execute function tasks_schedule_events()`,
  `create trigger tasks_schedule_update after update of due_date, status, deleted_at on tasks for each row
   when (new.due_date is not null or old.due_date is not null) execute function tasks_schedule_events()`,
];

/**
 * The moments at which records write events by themselves, and what these events say in addition. Triggers keep the moments
 * of the future, also for instances of an earlier version.
 */
export class ScheduledEvents1767300000300 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because tables in use are locked until the commit.
    await runner.query([...TABLE, ...TRIGGERS].join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function tasks_schedule_events() cascade');
    for (const table of ['events', 'event_outbox']) {
      await runner.query(
        `alter table ${table} drop column contactable, drop column remind_before_minutes`,
      );
    }
    await runner.query('drop table scheduled_events');
  }
}

/** Tasks that one transaction schedules. */
const BATCH = 1_000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** Tasks that are due later, in the order of an index. A task that changes meanwhile has the moment of its trigger, too. */
const FILL_BATCH = `
  with batch as materialized (
    select id, due_date, status from tasks
    where organization_id = $1 and deleted_at is null
      and (due_date, id) > (coalesce($2::timestamptz, now()), coalesce($3::uuid, '${FIRST_ID}'))
    order by due_date, id limit ${BATCH}),
  filled as (
    insert into scheduled_events (organization_id, record_id, type, due_at)
    select $1, id, 'task.overdue', due_date from batch where status in ('open', 'in_progress')
    on conflict do nothing)
  select id, due_date from batch order by due_date, id`;

interface Filled {
  readonly id: string;
  readonly due_date: Date;
}

/** Schedules the events of existing tasks that are due later. Those that are overdue already write none. */
export class ScheduleEventsOfTasks1767300000301 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const organizations = (await runner.query('select id from organizations')) as { id: string }[];
    for (const { id } of organizations) await fillOrganization(runner, id);
  }

  async down(): Promise<void> {
    // The moments are dropped with their table.
  }
}

async function fillOrganization(runner: QueryRunner, organization: string): Promise<void> {
  let last: Filled | undefined;
  let found: number;
  do {
    await runner.startTransaction();
    // Row-level security may bind the owner of the tables, too.
    await runner.query(`select set_config('app.organization_id', $1, true)`, [organization]);
    const values = [organization, last?.due_date ?? null, last?.id ?? null];
    const batch = (await runner.query(FILL_BATCH, values)) as Filled[];
    await runner.commitTransaction();
    last = batch.at(-1);
    found = batch.length;
  } while (found === BATCH);
}
