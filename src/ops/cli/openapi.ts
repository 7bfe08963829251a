import { NestFactory } from '@nestjs/core';
import type { Command } from 'commander';
import { readSettings } from '../../platform/config/settings.js';
import type { LatitudeConfig } from '../../platform/extension/config.js';
import { settingsOf } from '../../platform/extension/listed-extensions.js';
import { isJson, writeOutput } from './output.js';

/** `latitude openapi`. */
export function addOpenApi(program: Command, config: LatitudeConfig): void {
  program
    .command('openapi')
    .description('print the OpenAPI document of the API; no database is needed')
    .action(async () => {
      // Loaded on demand, because only this command needs the HTTP modules.
      const { serverModule } = await import('../../app.js');
      const { openApiDocument } = await import('../../platform/nest/openapi-document.js');
      const { localUrl } = await import('../../platform/http/openapi/server-url.js');
      const settings = readSettings(undefined, settingsOf(config.extensions));
      const root = serverModule({ ...config, settings, database: { url: '' } });
      // Nest's preview mode instantiates no providers.
      const options = { preview: true, logger: false, abortOnError: false } as const;
      const preview = await NestFactory.create(root, options);
      const document = await openApiDocument(preview, localUrl(settings.port));
      writeOutput(`${JSON.stringify(document, undefined, isJson(program) ? 0 : 2)}\n`);
    });
}
