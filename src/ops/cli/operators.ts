import { type Command } from 'commander';
import { OperatorsService } from '../../modules/auth/operators.service.js';
import { duration, uuid } from '../../platform/extension/command-options.js';
import type { Run } from '../../platform/extension/command.js';
import { issue, overlapOption } from './keys.js';

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
      issue('operators', run, (app) => {
        const expiresAt = expiresIn ? new Date(Date.now() + expiresIn) : null;
        return app.get(OperatorsService).createKey(name, expiresAt);
      }),
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
