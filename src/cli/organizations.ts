import type { Command } from 'commander';
import { KeysService } from '../auth/keys.service.js';
import type { Run } from './run.js';

/** `latitude organizations`. */
export function addOrganizations(program: Command, run: Run): void {
  const organizations = program.command('organizations').description('tenants of this service');
  organizations
    .command('create')
    .requiredOption('--name <name>', 'name of the organization')
    .action(({ name }: { name: string }) =>
      run((app) => app.get(KeysService).createOrganization(name)),
    );
  organizations
    .command('list')
    .action(() => run((app) => app.get(KeysService).listOrganizations()));
}
