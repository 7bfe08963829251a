import type { Command } from 'commander';
import type { LatitudeConfig } from '../extension/config.js';

/** `latitude openapi`. */
export function addOpenApi(program: Command, config: LatitudeConfig): void {
  program
    .command('openapi')
    .description('print the OpenAPI document of the API; no database is needed')
    .action(async () => {
      const { json } = program.opts<{ json?: boolean }>();
      // Loaded on demand, because only this command needs the HTTP modules.
      const { describeApi } = await import('./describe-api.js');
      await print(JSON.stringify(await describeApi(config), undefined, json ? 0 : 2));
    });
}

/** Waits until the output is written. A pipe takes 64 KiB at a time, and the process exits afterwards. */
function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(`${text}\n`, () => {
      resolve();
    });
  });
}
