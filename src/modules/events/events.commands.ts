import type { Command } from 'commander';
import { EventLogRepository } from './event-log.repository.js';
import { uuid } from '../../platform/extension/command-options.js';
import type { Run } from '../../platform/extension/command.js';
import { eventOf } from './recorded-event.js';

/** `latitude events`. */
export function addEventCommands(program: Command, run: Run): void {
  program
    .command('events')
    .description('list the changes of a record whose events are still stored, oldest first')
    .requiredOption('--record <id>', 'id of the record', uuid)
    .action(({ record }: { record: string }) =>
      run(async (app) => {
        const events = await app.get(EventLogRepository).readOfRecord(record);
        return events.map((event) => ({
          organization_id: event.organization_id,
          ...eventOf(event),
        }));
      }),
    );
}
