import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The root collation of ICU. It is deterministic: only equal strings are equal. */
const CREATE_COLLATION = `
  create collation if not exists latitude_names (provider = icu, locale = 'und', deterministic = true)`;

const WHERE = 'where deleted_at is null';

/** The indexes of sorts by names, each with the index that it replaces. */
const INDEXES = [
  {
    name: 'leads_sorted_by_first_name',
    columns: '(organization_id, first_name collate latitude_names, id)',
    replaced: 'leads_by_first_name',
  },
  {
    name: 'leads_sorted_by_last_name',
    columns: '(organization_id, last_name collate latitude_names, id)',
    replaced: 'leads_by_last_name',
  },
  {
    name: 'leads_sorted_by_last_name_desc',
    columns: '(organization_id, last_name collate latitude_names desc nulls last, id desc)',
    replaced: 'leads_by_last_name_desc',
  },
] as const;

/** Makes lists sort names as people do, instead of by code point. */
export class OrderOfNames1765152000000 implements MigrationInterface {
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(CREATE_COLLATION);
    for (const { name, columns, replaced } of INDEXES) {
      // An interrupted build leaves an invalid index.
      await runner.query(`drop index concurrently if exists ${name}`);
      await runner.query(`create index concurrently ${name} on leads ${columns} ${WHERE}`);
      await runner.query(`drop index concurrently if exists ${replaced}`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name, columns, replaced } of INDEXES) {
      const earlier = columns.replace(' collate latitude_names', '');
      await runner.query(`create index ${replaced} on leads ${earlier} ${WHERE}`);
      await runner.query(`drop index ${name}`);
    }
    await runner.query('drop collation latitude_names');
  }
}
