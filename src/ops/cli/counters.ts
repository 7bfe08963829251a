import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { TenantDataService } from '../../platform/data/records/tenant-data.service.js';
import type { TenantCall } from '../../platform/data/call.js';
import type { Progress, Run } from '../../platform/extension/command.js';
import { eachOrganization } from './each-organization.js';

/** `latitude counters`. */
export function addCounters(program: Command, run: Run): void {
  const counters = program
    .command('counters')
    .description('check and repair the counters behind the totals of lists');
  counters
    .command('check')
    .description('compare the counters with the records, and exit with 1 if they differ')
    .action(() =>
      run(async (app, progress) => {
        const result = await driftsOf(app, progress, 'checkCounts');
        if (result.wrong.length > 0) process.exitCode = 1;
        return result;
      }),
    );
  counters
    .command('repair')
    .description('correct wrong counters; requests are served meanwhile')
    .action(() =>
      run(async (app, progress) => {
        const { organizations, wrong } = await driftsOf(app, progress, 'repairCounts');
        return { organizations, repaired: wrong };
      }),
    );
}

/** The counters that are wrong, or were wrong before the repair. */
async function driftsOf(
  app: INestApplicationContext,
  progress: Progress,
  method: 'checkCounts' | 'repairCounts',
) {
  const find = async (call: TenantCall, { id }: { readonly id: string }) => {
    const drifts = await app.get(TenantDataService)[method](call);
    return drifts.map((drift) => ({ organization_id: id, ...drift }));
  };
  const drifts = await eachOrganization(app, find, progress);
  return { organizations: drifts.length, wrong: drifts.flat() };
}
