import type { INestApplicationContext } from '@nestjs/common';
import { type Command, Option } from 'commander';
import { KeysService, type NewKey } from '../../modules/auth/keys.service.js';
import type { WantedLimits } from '../../modules/auth/key-limits.js';
import { OperatorsService } from '../../modules/auth/operators.service.js';
import { describeFailure } from '../../platform/config/failure.js';
import { SCOPES } from '../../platform/access/scopes.js';
import { MAX_INTEGER } from '../../platform/config/setting.js';
import {
  confirmationsOption,
  duration,
  integer,
  scopes,
  uuid,
} from '../../platform/extension/command-options.js';
import type { Run } from '../../platform/extension/command.js';

interface CreateOptions extends Omit<NewKey, 'organizationId' | 'expiresAt'> {
  organization: string;
  expiresIn?: number;
}

interface UpdateOptions {
  readonly readsPerMinute?: number | 'default';
  readonly writesPerMinute?: number | 'default';
}

const limit = integer({ min: 1, max: MAX_INTEGER });

/** @throws InvalidArgumentError */
function limitOrDefault(text: string): number | 'default' {
  return text === 'default' ? text : limit(text);
}

function limitsOf({ readsPerMinute, writesPerMinute }: UpdateOptions): WantedLimits {
  return {
    reads_per_minute: readsPerMinute === 'default' ? null : readsPerMinute,
    writes_per_minute: writesPerMinute === 'default' ? null : writesPerMinute,
  };
}

/** `latitude keys`. */
export function addKeys(program: Command, run: Run): void {
  const keys = program.command('keys').description('API keys of an organization');
  keys
    .command('create')
    .requiredOption('--organization <id>', 'id of the organization', uuid)
    .requiredOption('--name <name>', 'what the key is for')
    .requiredOption('--scopes <scopes>', `all, or some of ${SCOPES.join(',')}`, scopes)
    .option('--expires-in <duration>', 'such as 90d', duration)
    .option('--user-id <id>', 'user to store as the author of records that the key creates', uuid)
    .addOption(confirmationsOption().default('never'))
    .option('--reads-per-minute <number>', 'reads of the key in a minute', limit)
    .option('--writes-per-minute <number>', 'writes of the key in a minute', limit)
    .action(({ organization: organizationId, expiresIn, ...options }: CreateOptions) =>
      issue('keys', run, (app) =>
        app.get(KeysService).createKey({
          organizationId,
          expiresAt: afterNow(expiresIn),
          ...options,
        }),
      ),
    );
  keys
    .command('list')
    .requiredOption('--organization <id>', 'id of the organization', uuid)
    .action(({ organization }: { organization: string }) =>
      run((app) => app.get(KeysService).listKeys(organization)),
    );
  keys
    .command('replace-first')
    .description('replace the first key of an organization, while it was never used')
    .requiredOption('--organization <id>', 'id of the organization', uuid)
    .action(({ organization }: { organization: string }) =>
      issue('keys', run, (app) => app.get(KeysService).replaceFirst(organization)),
    );
  keys
    .command('update')
    .description('change the rate limits of a key; one that is left out keeps its value')
    .argument('<id>', 'id of the key', uuid)
    .option('--reads-per-minute <number>', 'or default', limitOrDefault)
    .option('--writes-per-minute <number>', 'or default', limitOrDefault)
    .action((id: string, options: UpdateOptions) => {
      if (Object.keys(options).length === 0) throw new Error('name what to change.');
      return run(async (app) => {
        const service = app.get(KeysService);
        return service.setLimits(await service.callOfKey(id), id, limitsOf(options));
      });
    });
  keys
    .command('revoke')
    .argument('<id>', 'id of the key', uuid)
    .action((id: string) =>
      run(async (app) => {
        const keys = app.get(KeysService);
        return keys.revoke(await keys.callOfKey(id), id);
      }),
    );
  keys
    .command('rotate')
    .argument('<id>', 'id of the key', uuid)
    .addOption(overlapOption())
    .action((id: string, { overlap }: { overlap: number }) =>
      issue('keys', run, async (app) => {
        const service = app.get(KeysService);
        return service.rotate(await service.callOfKey(id), id, overlap);
      }),
    );
}

/** `latitude operators`. */
export function addOperators(program: Command, run: Run): void {
  const operators = program
    .command('operators')
    .description('keys of programs that create organizations over REST and read no records');
  operators
    .command('create')
    .requiredOption('--name <name>', 'what the operator is')
    .option('--expires-in <duration>', 'such as 90d', duration)
    .action(({ name, expiresIn }: { name: string; expiresIn?: number }) =>
      issue('operators', run, (app) =>
        app.get(OperatorsService).createKey(name, afterNow(expiresIn)),
      ),
    );
  operators
    .command('list')
    .description('list the keys of operators, the oldest first')
    .action(() => run((app) => app.get(OperatorsService).listKeys()));
  operators
    .command('rotate')
    .description('issue another key of an operator, which keeps its organizations')
    .argument('<id>', 'id of the key', uuid)
    .addOption(overlapOption())
    .action((id: string, { overlap }: { overlap: number }) =>
      issue('operators', run, (app) => app.get(OperatorsService).rotateKey(id, overlap)),
    );
  operators
    .command('revoke')
    .argument('<id>', 'id of the key', uuid)
    .action((id: string) => run((app) => app.get(OperatorsService).revokeKey(id)));
}

export function afterNow(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(Date.now() + ms);
}

/** The option of a rotation. */
function overlapOption(): Option {
  return new Option('--overlap <duration>', 'how long the old key stays valid')
    .argParser(duration)
    .default(0, 'none');
}

/**
 * Creates a key and prints it.
 * @param command the commands that revoke it
 * @throws Error that names the key if it was created and cannot be printed
 */
export async function issue(
  command: 'keys' | 'operators',
  run: Run,
  create: (app: INestApplicationContext) => Promise<{ readonly id: string }>,
): Promise<void> {
  let id: string | undefined;
  try {
    await run(async (app) => {
      const issued = await create(app);
      id = issued.id;
      return issued;
    });
  } catch (error) {
    if (id === undefined) throw error;
    const message = `${describeFailure(error)}; the key was created, but not printed: run "latitude ${command} revoke ${id}".`;
    throw new Error(message, { cause: error });
  }
}
