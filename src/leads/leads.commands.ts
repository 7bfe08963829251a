import type { Command } from 'commander';
import { KeysService } from '../auth/keys.service.js';
import {
  ContactIdentityService,
  type IdentityConflict,
} from './contact-identity/contact-identity.service.js';
import { uuid } from '../extension/command-options.js';
import type { Run } from '../extension/command.js';

/** `latitude leads`. */
export function addLeadCommands(program: Command, run: Run): void {
  program
    .command('leads')
    .description('leads of organizations')
    .command('conflicts')
    .description('list leads whose e-mail or phone equals that of an older lead')
    .option('--organization <id>', 'only leads of this organization', uuid)
    .action(({ organization }: { organization?: string }) =>
      run(async (app) => {
        const keys = app.get(KeysService);
        const service = app.get(ContactIdentityService);
        const organizations = organization
          ? [await keys.getOrganization(organization)]
          : await keys.listOrganizations();
        const found: (IdentityConflict & { organization_id: string })[] = [];
        for (const { id, phone_region } of organizations) {
          const conflicts = await service.listConflicts({ id }, phone_region);
          found.push(...conflicts.map((conflict) => ({ organization_id: id, ...conflict })));
        }
        return found;
      }),
    );
}
