import type { INestApplicationContext } from '@nestjs/common';
import { type Command, CommanderError } from 'commander';
import { KeysService } from '../../modules/auth/keys.service.js';
import { CountsService } from '../../platform/data/records/counts.service.js';
import type { CountDrift } from '../../platform/data/records/record-counts.js';
import type { TenantCall } from '../../platform/data/call.js';
import type { Progress, Run } from '../../platform/extension/command.js';

/** `latitude counters`. */
export function addCounters(program: Command, run: Run): void {
  const counters = program
    .command('counters')
    .description('check and repair the counters behind the totals of lists');
  counters
    .command('check')
    .description('compare the counters with the records, and exit with 1 if they differ')
    .action(async () => {
      let wrong = 0;
      await run(async (app, progress) => {
        const service = app.get(CountsService);
        const result = await forEachOrganization(app, progress, (call) => service.check(call));
        wrong = result.wrong.length;
        return result;
      });
      // The printed result names them. This sets the exit code and prints nothing.
      if (wrong > 0) throw new CommanderError(1, 'latitude.counters', 'Counters are wrong.');
    });
  counters
    .command('repair')
    .description('correct wrong counters; requests are served meanwhile')
    .action(() =>
      run(async (app, progress) => {
        const service = app.get(CountsService);
        const { organizations, wrong } = await forEachOrganization(app, progress, (call) =>
          service.repair(call),
        );
        return { organizations, repaired: wrong };
      }),
    );
}

async function forEachOrganization(
  app: INestApplicationContext,
  progress: Progress,
  find: (call: TenantCall) => Promise<CountDrift[]>,
) {
  const organizations = await app.get(KeysService).listOrganizations();
  const wrong: (CountDrift & { organization_id: string })[] = [];
  await progress(organizations.length, async (advance) => {
    for (const { id } of organizations) {
      const drifts = await find({ tenant: { id } });
      wrong.push(...drifts.map((drift) => ({ organization_id: id, ...drift })));
      advance(1);
    }
  });
  return { organizations: organizations.length, wrong };
}
