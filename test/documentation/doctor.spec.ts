import { readFileSync } from 'node:fs';
import { BACKUP_CHECKS } from '../../src/ops/doctor/checks/backup.js';
import { CATALOGUE_CHECKS } from '../../src/ops/doctor/checks/catalogue.js';
import { CONNECTION_CHECKS } from '../../src/ops/doctor/checks/connections.js';
import { DEEP_CHECKS } from '../../src/ops/doctor/checks/deep.js';
import { MIGRATION_CHECKS } from '../../src/ops/doctor/checks/migrations.js';
import { POSTGRES_CHECKS } from '../../src/ops/doctor/checks/postgres.js';
import { SCHEMA_CHECKS } from '../../src/ops/doctor/checks/schema.js';
import { SETTINGS_CHECKS } from '../../src/ops/doctor/checks/settings.js';
import { SURROUNDINGS_CHECKS } from '../../src/ops/doctor/checks/surroundings.js';
import { TENANCY_CHECKS } from '../../src/ops/doctor/checks/tenancy.js';
import { UPGRADE_CHECKS } from '../../src/ops/doctor/checks/upgrade.js';
import { WORK_CHECKS } from '../../src/ops/doctor/checks/work.js';

/** The check that opens the database is in none of the lists. */
const CHECKS = {
  database: undefined,
  ...SETTINGS_CHECKS,
  ...CONNECTION_CHECKS,
  ...POSTGRES_CHECKS,
  ...SURROUNDINGS_CHECKS,
  ...BACKUP_CHECKS,
  ...MIGRATION_CHECKS,
  ...UPGRADE_CHECKS,
  ...SCHEMA_CHECKS,
  ...CATALOGUE_CHECKS,
  ...TENANCY_CHECKS,
  ...WORK_CHECKS,
  ...DEEP_CHECKS,
};

it('docs/operating/doctor.md describes every check of doctor', () => {
  const page = readFileSync('docs/operating/doctor.md', 'utf8');
  const [, checks = ''] = page.split('## Checks');
  const described = [...checks.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name!);
  expect(described.toSorted()).toEqual(Object.keys(CHECKS).sort());
});
