import type { Command } from 'commander';
import { PartitionsService } from '../database/partitions/partitions.service.js';
import { integer } from '../extension/command-options.js';
import type { Run } from '../extension/command.js';

/** `latitude partition`. */
export function addPartition(program: Command, run: Run): void {
  program
    .command('partition')
    .description('spread the tables of organizations over hash partitions; stop the servers first')
    .requiredOption(
      '--partitions <number>',
      'number of partitions of each table',
      integer({ min: 2, max: 256 }),
    )
    .action(({ partitions }: { partitions: number }) =>
      run(async (app) => ({ partitioned: await app.get(PartitionsService).partition(partitions) })),
    );
}
