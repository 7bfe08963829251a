import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Every UUID in the route, the location and the body of a response: the records that it contains. */
const FILL = `
  update idempotency_keys set record_ids = array(
    select distinct lower(found[1])::uuid
    from regexp_matches(concat_ws(' ', route, location, body),
      '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'gi') found)`;

/** Stores which records a response contains, so that a purge of a record removes its responses. */
export class AnsweredRecords1764374400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const statements = [
      // Null in rows of servers of an earlier version, which may still run.
      'alter table idempotency_keys add column record_ids uuid[]',
      // The owner of the table must see the responses of every organization.
      'alter table idempotency_keys no force row level security',
      FILL,
      'alter table idempotency_keys force row level security',
    ];
    for (const statement of statements) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table idempotency_keys drop column record_ids');
  }
}
