import { type Command, Option } from 'commander';
import {
  type FailedJobFilter,
  JobQueueRepository,
} from '../../platform/jobs/job-queue.repository.js';
import { uuid } from '../../platform/extension/command-options.js';
import type { Run } from '../../platform/extension/command.js';

/** `latitude jobs`. */
export function addJobs(program: Command, run: Run): void {
  const jobs = program.command('jobs').description('jobs that failed and are not repeated');
  const command = (name: string, description: string) =>
    jobs
      .command(name)
      .description(description)
      .option('--name <name>', 'only jobs of this name, such as acme.send-message')
      .addOption(new Option('--id <id>', 'only this job').argParser(uuid));

  command('list', 'list the latest 100 failed jobs').action((filter: FailedJobFilter) =>
    run((app) => app.get(JobQueueRepository).listFailed(filter)),
  );
  command('retry', 'let failed jobs run again, with all their attempts').action(
    (filter: FailedJobFilter) =>
      run(async (app) => ({ retried: await app.get(JobQueueRepository).retryFailed(filter) })),
  );
}
