import { createTenantTable, dropTenantTable } from 'latitude';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Note } from './note.entity.js';

export class Notes1800000000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return createTenantTable(runner, Note, [
      'lead_id uuid not null',
      'text text not null',
      'status text not null',
    ]);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTenantTable(runner, Note);
  }
}
