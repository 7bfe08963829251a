import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `create function count_appointment_revision() returns trigger language plpgsql as $$ begin
     new.revision := old.revision + 1;
     return new;
   end $$`,
  // What follows locks appointments until the commit.
  'alter table appointments add column revision integer not null default 0',
  // Appointments without a resource are in no calendar.
  `create trigger count_appointment_revision before update on appointments
    for each row when (new.resource_id is not null and new.updated_at <> old.updated_at)
    execute function count_appointment_revision()`,
];

/** How often an appointment of a resource was changed, for calendar applications. */
export class AppointmentRevisions1767300000201 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because it locks a table in use until the commit.
    await runner.query(STATEMENTS.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop trigger count_appointment_revision on appointments;
      drop function count_appointment_revision();
      alter table appointments drop column revision`);
  }
}
