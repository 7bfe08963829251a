import type { Command } from 'commander';
import type { LatitudeConfig } from '../../platform/extension/config.js';
import { isJson, writeOutput } from './output.js';

/** `latitude openapi`. */
export function addOpenApi(program: Command, config: LatitudeConfig): void {
  program
    .command('openapi')
    .description('print the OpenAPI document of the API; no database is needed')
    .action(async () => {
      // Loaded on demand, because only this command needs the HTTP modules.
      const { describeApi } = await import('./describe-api.js');
      const document = JSON.stringify(
        await describeApi(config),
        undefined,
        isJson(program) ? 0 : 2,
      );
      await writeOutput(`${document}\n`);
    });
}
