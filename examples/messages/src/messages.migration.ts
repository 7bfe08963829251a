import { createTenantTable, dropTenantTable } from 'latitude';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { messagesTable } from './messages.table.js';

export class CreateMessages1800000000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return createTenantTable(runner, messagesTable, [
      'lead_id uuid not null',
      'text text not null',
      'status text not null',
    ]);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTenantTable(runner, messagesTable);
  }
}
