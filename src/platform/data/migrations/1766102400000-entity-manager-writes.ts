import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The tables whose writes need more than SQL: events, scores, compared fields, or the order of a queue. */
const TABLES = [
  'leads',
  'appointments',
  'tasks',
  'webhooks',
  'webhook_deliveries',
  'events',
  'event_outbox',
  'idempotency_keys',
  'jobs',
];

/** Refuses writes of the entity manager that the work of a transaction receives. */
export class EntityManagerWrites1766102400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create function refuse_entity_manager() returns trigger language plpgsql as $$
      begin
        raise exception 'the entity manager of a transaction cannot write to %', tg_table_name
          using errcode = 'insufficient_privilege',
            hint = 'Use the service of its module, which also writes events and computed columns.';
      end $$`);
    for (const table of TABLES) {
      await runner.query(`create trigger refuse_entity_manager
        before insert or update or delete on ${table}
        for each statement when (current_setting('latitude.entity_manager', true) = 'on')
        execute function refuse_entity_manager()`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function refuse_entity_manager() cascade');
  }
}
