import type { Command } from 'commander';
import { confirmationsOption, uuid } from '../../platform/extension/command-options.js';
import type { Run } from '../../platform/extension/command.js';
import type { UpdateGrantDto } from './grants.dto.js';
import { GrantsService } from './grants.service.js';

/** `latitude grants`. */
export function addGrantCommands(program: Command, run: Run): void {
  const grants = program
    .command('grants')
    .description('what people have granted to applications by sign-in to /mcp');
  grants
    .command('list')
    .description('list the grants of an organization, the oldest first')
    .requiredOption('--organization <id>', 'id of the organization', uuid)
    .action(({ organization }: { organization: string }) =>
      run((app) => app.get(GrantsService).listAll(organization)),
    );
  grants
    .command('update')
    .description('change whether tools ask the user')
    .argument('<id>', 'id of the grant', uuid)
    .addOption(confirmationsOption().makeOptionMandatory())
    .action((id: string, changes: UpdateGrantDto) =>
      run(async (app) => {
        const service = app.get(GrantsService);
        return await service.update(await service.callOfGrant(id), id, changes);
      }),
    );
  grants
    .command('revoke')
    .description('end a grant with its tokens and sessions')
    .argument('<id>', 'id of the grant', uuid)
    .action((id: string) =>
      run(async (app) => {
        const service = app.get(GrantsService);
        return service.revoke(await service.callOfGrant(id), id);
      }),
    );
}
