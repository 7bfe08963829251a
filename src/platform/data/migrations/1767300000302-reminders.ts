import type { MigrationInterface, QueryRunner } from 'typeorm';

const MAY_START = (row: string) => `${row}.status in ('scheduled', 'confirmed')`;

/** SQL of the moments at which an appointment has reminders. */
const momentsOf = (row: string, minutes: string) => `
  select ${row}.organization_id, ${row}.id, 'appointment.starting', ${row}.start_time - make_interval(mins => minutes)
  from ${minutes} minutes
  where ${row}.start_time - make_interval(mins => minutes) > clock_timestamp() and ${MAY_START(row)}
  on conflict do nothing`;

const INSERT = 'insert into scheduled_events (organization_id, record_id, type, due_at)';

const STATEMENTS = [
  // A moment that has passed stays: the record itself says whether its event is still to be written. The conditions of the
  // triggers are short, because PostgreSQL parses them for each statement.
  `create function appointments_schedule_events() returns trigger language plpgsql set search_path from current
   as $$ begin
     if tg_op = 'UPDATE' then
       if (new.remind_before_minutes, new.resource_id, new.start_time, ${MAY_START('new')})
         is not distinct from (old.remind_before_minutes, old.resource_id, old.start_time, ${MAY_START('old')}) then
         return null;
       end if;
       delete from scheduled_events where organization_id = new.organization_id and record_id = new.id
         and due_at > clock_timestamp();
     end if;
     ${INSERT} ${momentsOf(
       'new',
       `unnest(coalesce(new.remind_before_minutes, (select remind_before_minutes from resources
          where organization_id = new.organization_id and id = new.resource_id)))`,
     )};
     return null;
   end $$`,
  // The appointments without reminders of their own.
  `create function resources_schedule_events() returns trigger language plpgsql set search_path from current
   as $$ begin
     delete from scheduled_events moment using appointments booked
     where moment.organization_id = new.organization_id and booked.organization_id = new.organization_id
       and booked.resource_id = new.id and booked.start_time > now() and booked.remind_before_minutes is null
       and moment.record_id = booked.id and moment.due_at > clock_timestamp();
     ${INSERT} ${momentsOf(
       'booked',
       `(select * from appointments where organization_id = new.organization_id and resource_id = new.id
          and start_time > now() and remind_before_minutes is null) booked
        cross join unnest(new.remind_before_minutes)`,
     )};
     return null;
   end $$`,
  // What follows locks tables in use until the commit.
  'alter table resources add column remind_before_minutes integer[]',
  `create trigger resources_schedule_update after update of remind_before_minutes on resources for each row
   when (new.remind_before_minutes is distinct from old.remind_before_minutes)
   execute function resources_schedule_events()`,
  'alter table appointments add column remind_before_minutes integer[]',
  `create trigger appointments_schedule_insert after insert on appointments for each row
   when (new.remind_before_minutes is not null or new.resource_id is not null)
   execute function appointments_schedule_events()`,
  `create trigger appointments_schedule_update
   after update of start_time, status, remind_before_minutes, resource_id on appointments for each row
   when (new.remind_before_minutes is not null or old.remind_before_minutes is not null
     or new.resource_id is not null or old.resource_id is not null)
   execute function appointments_schedule_events()`,
];

/** The reminders of appointments and resources, and the moments at which they are due. */
export class Reminders1767300000302 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because tables in use are locked until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop function appointments_schedule_events() cascade;
      drop function resources_schedule_events() cascade;
      alter table appointments drop column remind_before_minutes;
      alter table resources drop column remind_before_minutes`);
  }
}
