import { createTenantTable, dropTenantTable, tenantTable } from 'latitude';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { SORTS } from './notes.dto.js';

export const notesTable = tenantTable('notes', {
  counted: ['status'],
  sorts: SORTS,
  references: { lead_id: { table: 'leads', onDelete: 'cascade' } },
});

export class Notes1800000000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return createTenantTable(runner, notesTable, [
      'lead_id uuid not null',
      'text text not null',
      'status text not null',
    ]);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTenantTable(runner, notesTable);
  }
}
