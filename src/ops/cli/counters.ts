import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { CountsService } from '../../platform/data/records/counts.service.js';
import type { CountDrift } from '../../platform/data/records/record-counts.js';
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
        const service = app.get(CountsService);
        const result = await driftsOf(app, progress, (call) => service.check(call));
        if (result.wrong.length > 0) process.exitCode = 1;
        return result;
      }),
    );
  counters
    .command('repair')
    .description('correct wrong counters; requests are served meanwhile')
    .action(() =>
      run(async (app, progress) => {
        const service = app.get(CountsService);
        const { organizations, wrong } = await driftsOf(app, progress, (call) =>
          service.repair(call),
        );
        return { organizations, repaired: wrong };
      }),
    );
}

async function driftsOf(
  app: INestApplicationContext,
  progress: Progress,
  find: (call: TenantCall) => Promise<CountDrift[]>,
) {
  const drifts = await eachOrganization(
    app,
    async (call, { id }) => (await find(call)).map((drift) => ({ organization_id: id, ...drift })),
    progress,
  );
  return { organizations: drifts.length, wrong: drifts.flat() };
}
