import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEX = 'appointments_by_resource';

/** The index of the appointments of a resource, and the check of their foreign key. */
export class AppointmentsByResource1767300000002 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // An earlier attempt can have left an invalid index.
    await runner.query(`drop index concurrently if exists ${INDEX}`);
    await runner.query(`create index concurrently ${INDEX} on appointments (organization_id, resource_id, start_time, id)
      where resource_id is not null`);
    await runner.query(
      'alter table appointments validate constraint appointments_organization_id_resource_id_fkey',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop index concurrently if exists ${INDEX}`);
  }
}
