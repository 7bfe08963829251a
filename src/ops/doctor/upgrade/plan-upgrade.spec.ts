import { readFileSync } from 'node:fs';
import { MIGRATION_NAMES, namesOf } from '../../../platform/data/executed-migrations.js';
import { MIGRATIONS } from '../../../platform/data/connection/data-source-options.js';
import { migrationsOfExtension } from '../../../platform/data/extension-migrations.js';
import { MIGRATION_EFFECTS, RELEASES } from './migration-effects.js';
import { planUpgrade } from './plan-upgrade.js';

/** The migrations up to the last one of a release. */
const upTo = (last: string) => MIGRATION_NAMES.slice(0, MIGRATION_NAMES.indexOf(last) + 1);
const ofRelease = (release: keyof typeof RELEASES) => ({ migrations: upTo(RELEASES[release]) });

const plan = (release: keyof typeof RELEASES, rows: Record<string, number> = {}) =>
  planUpgrade(ofRelease(release), [], new Map(Object.entries(rows)));

it('says what each migration does', () => {
  const [, ...afterBaseline] = MIGRATIONS;
  expect(Object.keys(MIGRATION_EFFECTS).sort()).toEqual(namesOf(afterBaseline).sort());
});

it('knows the last release', () => {
  const { version, lastMigration } = JSON.parse(
    readFileSync('.ci/upgrade/release.json', 'utf8'),
  ) as { version: string; lastMigration: string };
  expect(Object.entries(RELEASES).at(-1)).toEqual([version, lastMigration]);
});

it('lets instances of the last release go on, and no others', () => {
  expect(plan('0.4.0')).toMatchObject({ from: '0.4.0', old_instances_may_run: true });
  expect(plan('0.3.0')).toMatchObject({ from: '0.3.0', old_instances_may_run: false });
  const none = planUpgrade({ migrations: ['Older1'] }, [], new Map());
  expect(none).toMatchObject({ from: null, old_instances_may_run: false });
});

it('plans the migrations that are missing, in their order', () => {
  const missing = MIGRATION_NAMES.slice(MIGRATION_NAMES.indexOf(RELEASES['0.4.0']) + 1);
  expect(plan('0.4.0').migrations.map(({ name }) => name)).toEqual(missing);
  const current = planUpgrade({ migrations: MIGRATION_NAMES }, [], new Map());
  expect(current).toMatchObject({ migrations: [], estimated_seconds: 0, estimated_bytes: 0 });
});

it('estimates by the numbers of rows', () => {
  const secondsOf = (leads: number) => {
    const { migrations } = plan('0.3.0', { leads });
    return migrations.find(({ name }) => name.startsWith('TagsFoldedIndex'))!;
  };
  const { seconds, bytes } = MIGRATION_EFFECTS.TagsFoldedIndex1766620800002!.rows!.leads!;
  expect(secondsOf(0)).toMatchObject({ rows: { leads: 0 }, estimated_bytes: 0 });
  expect(secondsOf(1_000_000)).toMatchObject({
    rows: { leads: 1_000_000 },
    estimated_seconds: Math.round((10 * seconds + 0.1) * 10) / 10,
    estimated_bytes: 1_000_000 * bytes,
  });
  expect(plan('0.3.0', { leads: 1_000_000 }).estimated_bytes).toBeGreaterThan(
    2 * 1_000_000 * bytes,
  );
});

it('names the migrations of extensions, of which nothing is known', () => {
  class Parcels1700000000000 {
    up = () => Promise.resolve();
    down = () => Promise.resolve();
  }
  const extension = migrationsOfExtension('parcels', [Parcels1700000000000]);
  const { migrations } = planUpgrade({ migrations: MIGRATION_NAMES }, [extension], new Map());
  expect(migrations).toEqual([
    {
      name: 'Parcels1700000000000 of latitude_migrations_parcels',
      does: null,
      rows: {},
      estimated_seconds: null,
      estimated_bytes: null,
    },
  ]);
});
