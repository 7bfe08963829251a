import { setTimeout as wait } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { type Command, Option } from 'commander';
import { KeysService } from '../../modules/auth/keys.service.js';
import { OrganizationRemovalService } from '../../modules/auth/organization-removal.service.js';
import { ContactIdentityService } from '../../modules/leads/contact-identity/contact-identity.service.js';
import { UNKNOWN_FIELDS, type UnknownFields } from '../../platform/data/call.js';
import { phoneRegion, timeZone, uuid } from '../../platform/extension/command-options.js';
import type { Progress, Run } from '../../platform/extension/command.js';

const PHONE_REGION = 'country of phone numbers without a country code, such as US or DE';
const UNKNOWN = 'keys of custom fields without a definition';
const TIME_ZONE = 'zone of its days, such as Europe/Berlin; UTC by default';

interface Options {
  name?: string;
  suspend?: true;
  resume?: true;
  phoneRegion?: string;
  timeZone?: string;
  unknownFields?: UnknownFields;
}

/** A key is cached for less than a second, and a write times out after less than 5 seconds. */
const MAX_REQUEST_MS = 6_000;

/** `latitude organizations`. */
export function addOrganizations(program: Command, run: Run): void {
  const organizations = program.command('organizations').description('tenants of this service');
  organizations
    .command('create')
    .requiredOption('--name <name>', 'name of the organization')
    .option('--phone-region <country>', PHONE_REGION, phoneRegion)
    .option('--time-zone <name>', TIME_ZONE, timeZone)
    .action(({ name, phoneRegion: region, timeZone: zone }: Options & { name: string }) =>
      run((app) => app.get(KeysService).createOrganization(name, region, zone)),
    );
  organizations
    .command('update')
    .description('change an organization; another phone region normalizes all phone numbers again')
    .argument('<id>', 'id of the organization', uuid)
    .option('--name <name>', 'name of the organization')
    .addOption(
      new Option('--suspend', 'refuse its keys and hold its deliveries').conflicts('resume'),
    )
    .option('--resume', 'accept its keys again and send its deliveries')
    .option('--phone-region <country>', PHONE_REGION, phoneRegion)
    .option('--time-zone <name>', TIME_ZONE, timeZone)
    .addOption(new Option('--unknown-fields <what>', UNKNOWN).choices(UNKNOWN_FIELDS))
    .action((id: string, options: Options) => {
      if (Object.keys(options).length === 0) throw new Error('name what to change.');
      return run((app, progress) => update(app, id, options, progress));
    });
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

async function update(
  app: INestApplicationContext,
  id: string,
  { phoneRegion: region, timeZone: time_zone, unknownFields, name, suspend, resume }: Options,
  progress: Progress,
) {
  const keys = app.get(KeysService);
  const { phone_region: previous } = await keys.getOrganization(id);
  const suspended = suspend ?? (resume && false);
  const changes = {
    ...{ name, phone_region: region, time_zone, suspended },
    unknown_fields: unknownFields,
  };
  const changed = await keys.updateOrganization(id, changes);
  const { created_at: _, ...organization } = changed;
  if (region === undefined) return organization;
  return { ...organization, conflicts: await normalizePhones(app, id, previous, region, progress) };
}

/**
 * Requests that authenticated before the change still use the old region. The leads are normalized after these have ended.
 * @returns the number of leads whose numbers are equal now
 */
async function normalizePhones(
  app: INestApplicationContext,
  id: string,
  previous: string,
  region: string,
  progress: Progress,
): Promise<number> {
  const identity = app.get(ContactIdentityService);
  const call = { tenant: { id } };
  await progress(2, async (advance) => {
    if (previous !== region) await wait(MAX_REQUEST_MS);
    advance(1);
    await identity.normalizeAgain(call, region);
    advance(1);
  });
  return (await identity.listConflicts(call, region)).length;
}
