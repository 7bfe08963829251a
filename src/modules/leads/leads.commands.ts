import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { KeysService } from '../auth/keys.service.js';
import {
  ContactIdentityService,
  type IdentityConflict,
} from './contact-identity/contact-identity.service.js';
import { uuid } from '../../platform/extension/command-options.js';
import type { Run } from '../../platform/extension/command.js';
import { addTransferCommands } from './transfer/transfer.commands.js';

/** `latitude leads`. */
export function addLeadCommands(program: Command, run: Run): void {
  const leads = program.command('leads').description('leads of organizations');
  addTransferCommands(leads, run);
  leads
    .command('conflicts')
    .description('list leads whose e-mail or phone equals that of another lead')
    .option('--organization <id>', 'only leads of this organization', uuid)
    .action(({ organization }: { organization?: string }) =>
      run(async (app) => {
        const keys = app.get(KeysService);
        const organizations = organization
          ? [await keys.getOrganization(organization)]
          : await keys.listOrganizations();
        return listConflicts(app, organizations);
      }),
    );
}

/** The conflicts of several organizations, each with the id of its organization. */
export async function listConflicts(
  app: INestApplicationContext,
  organizations: readonly { id: string; phone_region: string }[],
): Promise<(IdentityConflict & { organization_id: string })[]> {
  const found: (IdentityConflict & { organization_id: string })[] = [];
  for (const { id, phone_region } of organizations) {
    const call = { tenant: { id } };
    const conflicts = await app.get(ContactIdentityService).listConflicts(call, phone_region);
    found.push(...conflicts.map((conflict) => ({ organization_id: id, ...conflict })));
  }
  return found;
}
