import { createTenantTable, dropTenantTable } from 'latitude';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { Message } from './message.entity.js';

export class CreateMessages1800000000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return createTenantTable(runner, Message, [
      'lead_id uuid not null',
      'text text not null',
      'status text not null',
    ]);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTenantTable(runner, Message);
  }
}
