import { statfs } from 'node:fs/promises';
import { VERSION } from '../../../platform/config/version.js';
import { type Checks, failed, ok, skipped, warning } from '../check.js';
import type { DatabaseContext } from '../context.js';
import type { UpgradePlan } from '../upgrade/plan-upgrade.js';
import { HIDDEN, schemaStateOf, UNSUPPORTED } from './migrations.js';

const MIB = 1024 ** 2;

/** What checks before an upgrade use. */
export interface UpgradeContext extends DatabaseContext {
  readonly plan: UpgradePlan;
}

/** Whether this version can take over a database, and what that takes. They replace the check of migrations. */
export const UPGRADE_CHECKS: Checks<UpgradeContext> = {
  upgrade: (context) => {
    const { from, migrations, estimated_seconds } = context.plan;
    switch (schemaStateOf(context)) {
      case 'hidden':
        return HIDDEN;
      case 'unsupported':
        return UNSUPPORTED;
      case 'empty':
        return ok('The database is empty. The start sets it up.');
      case 'newer':
        return warning(
          `The database has been migrated by a later version than ${VERSION}.`,
          'Upgrade to that version instead.',
        );
      case 'current':
        return ok(`The database has all migrations of Latitude ${VERSION}. Nothing is to be done.`);
      case 'pending':
        return ok(
          `${migrations.length} migrations lead from ${from === null ? 'this schema' : `release ${from}`} to Latitude ${VERSION}, in about ${seconds(estimated_seconds)} (an estimate from the sizes of the tables).`,
        );
    }
  },

  upgrade_instances: ({ plan, instances }) => {
    if (plan.migrations.length === 0) return skipped('There is nothing to migrate.');
    if (plan.old_instances_may_run) {
      return ok(
        `Instances of release ${plan.from} may go on meanwhile: no migration locks a table in use for more than 100 ms.`,
      );
    }
    const problem = 'Instances of the earlier release may not go on while this version runs.';
    const remedy = 'Stop all instances before the upgrade, or upgrade by release 0.4.0.';
    return instances > 0
      ? warning(`${problem} Connected instances: ${instances}.`, remedy)
      : ok(`${problem} None is connected.`);
  },

  upgrade_disk: async ({ plan, database, settings: { dataDir } }) => {
    if (plan.migrations.length === 0) return skipped('There is nothing to migrate.');
    const needed = `The migrations need about ${Math.ceil(plan.estimated_bytes / MIB)} MiB of free space, with their write-ahead log (an estimate).`;
    if (!database.embedded) return ok(`${needed} See that the server of the database has them.`);
    const { bavail, bsize } = await statfs(dataDir);
    const free = bavail * bsize;
    const message = `${needed} ${Math.floor(free / MIB)} MiB are free.`;
    if (free > plan.estimated_bytes) return ok(message);
    return failed(message, 'Free space, enlarge the disk, or move DATA_DIR to a larger one.');
  },
};

function seconds(value: number): string {
  return value < 90 ? `${Math.ceil(value)} s` : `${Math.ceil(value / 60)} minutes`;
}
