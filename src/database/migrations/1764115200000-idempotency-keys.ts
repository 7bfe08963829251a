import type { MigrationInterface, QueryRunner } from 'typeorm';
import { protectTenantTable } from '../tenant-role/tenant-role.js';

const STATEMENTS = [
  `create table idempotency_keys (
    organization_id uuid not null references organizations (id),
    key text collate "C" not null,
    route text collate "C" not null,
    content_hash bytea not null,
    status smallint not null,
    location text,
    etag text,
    body text not null,
    created_at timestamptz(3) not null default now(),
    primary key (organization_id, key, route)
  )`,
  `create index idempotency_keys_by_created_at on idempotency_keys (organization_id, created_at)`,
  ...protectTenantTable('idempotency_keys'),
];

export class IdempotencyKeys1764115200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table idempotency_keys');
  }
}
