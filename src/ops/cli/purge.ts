import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { RecordRemoval } from '../../platform/data/records/record-removal.service.js';
import { duration } from '../../platform/extension/command-options.js';
import type { Progress, Run } from '../../platform/extension/command.js';
import { eachOrganization } from './each-organization.js';

/** `latitude purge`. */
export function addPurge(program: Command, run: Run): void {
  program
    .command('purge')
    .description('permanently remove records that were deleted long ago')
    .requiredOption('--older-than <duration>', 'such as 30d', duration)
    .action(({ olderThan }: { olderThan: number }) =>
      run((app, progress) => purge(app, new Date(Date.now() - olderThan), progress)),
    );
}

/** Removes what was deleted before a time, organization by organization. */
async function purge(app: INestApplicationContext, before: Date, progress: Progress) {
  const service = app.get(RecordRemoval);
  const counts = await eachOrganization(app, (call) => service.countPurgeable(call, before));
  const total = counts.flatMap((count) => Object.values(count)).reduce((sum, n) => sum + n, 0);
  const removed = await progress(total, (advance) =>
    eachOrganization(app, (call) => service.purge(call, before, advance)),
  );
  const sumOf = (table: string) => removed.reduce((sum, counts) => sum + (counts[table] ?? 0), 0);
  return Object.fromEntries(service.tables.map((table) => [table, sumOf(table)]));
}
