import { setTimeout as wait } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { KeysService } from '../../modules/auth/keys.service.js';
import { OrganizationRemovalService } from '../../modules/auth/organization-removal.service.js';
import { ContactIdentityService } from '../../modules/leads/contact-identity/contact-identity.service.js';
import { phoneRegion, uuid } from '../../platform/extension/command-options.js';
import type { Progress, Run } from '../../platform/extension/command.js';

const PHONE_REGION = 'country of phone numbers without a country code, such as US or DE';

/** A key is cached for less than a second, and a write times out after less than 5 seconds. */
const MAX_REQUEST_MS = 6_000;

/** `latitude organizations`. */
export function addOrganizations(program: Command, run: Run): void {
  const organizations = program.command('organizations').description('tenants of this service');
  organizations
    .command('create')
    .requiredOption('--name <name>', 'name of the organization')
    .option('--phone-region <country>', PHONE_REGION, phoneRegion)
    .action(({ name, phoneRegion: region }: { name: string; phoneRegion?: string }) =>
      run((app) => app.get(KeysService).createOrganization(name, region)),
    );
  organizations
    .command('update')
    .description('change the phone region and normalize all phone numbers again')
    .argument('<id>', 'id of the organization', uuid)
    .requiredOption('--phone-region <country>', PHONE_REGION, phoneRegion)
    .action((id: string, { phoneRegion: region }: { phoneRegion: string }) =>
      run((app, progress) => changeRegion(app, id, region, progress)),
    );
  organizations
    .command('list')
    .action(() => run((app) => app.get(KeysService).listOrganizations()));
  organizations
    .command('delete')
    .description('permanently remove an organization with its keys and all of its data')
    .argument('<id>', 'id of the organization', uuid)
    .option('--yes', 'remove it; without this option, only print what would be removed')
    .action(async (id: string, { yes = false }: { yes?: boolean }) => {
      await run(async (app, progress) => {
        const service = app.get(OrganizationRemovalService);
        const contents = await service.contents(id);
        if (!yes) return { ...contents, deleted: false };
        const total = Object.values(contents.records).reduce((sum, count) => sum + count, 0);
        const records = await progress(total, (advance) => service.remove(id, advance));
        return { ...contents, records, deleted: true };
      });
      if (!yes) throw new Error('nothing was removed: add --yes to remove the organization.');
    });
}

/** Requests that authenticated before the change still use the old region. The leads are normalized after these have ended. */
async function changeRegion(
  app: INestApplicationContext,
  id: string,
  region: string,
  progress: Progress,
) {
  const keys = app.get(KeysService);
  const identity = app.get(ContactIdentityService);
  const call = { tenant: { id } };
  const { name, phone_region: previous } = await keys.getOrganization(id);
  await keys.setPhoneRegion(id, region);
  await progress(2, async (advance) => {
    if (previous !== region) await wait(MAX_REQUEST_MS);
    advance(1);
    await identity.normalizeAgain(call, region);
    advance(1);
  });
  const conflicts = await identity.listConflicts(call, region);
  return { id, name, phone_region: region, conflicts: conflicts.length };
}
