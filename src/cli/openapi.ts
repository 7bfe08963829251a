import { DiscoveryService, ModulesContainer, NestFactory } from '@nestjs/core';
import type { Command } from 'commander';
import { rootModule } from '../app.js';
import { readSettings } from '../config/settings.js';
import { openApiDocument } from '../http/openapi/document.js';
import { controllersOf } from '../http/openapi/openapi.controller.js';

/** `latitude openapi`. */
export function addOpenApi(program: Command): void {
  program
    .command('openapi')
    .description('print the OpenAPI document of the API; no database is needed')
    .action(async () => {
      const { json } = program.opts<{ json?: boolean }>();
      await print(JSON.stringify(await describe(), undefined, json ? 0 : 2));
    });
}

/** A preview knows every controller and starts none of what they need. */
async function describe() {
  const root = rootModule({ settings: readSettings(), database: { url: '' } });
  const preview = await NestFactory.createApplicationContext(root, {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  const discovery = new DiscoveryService(preview.get(ModulesContainer));
  return openApiDocument(controllersOf(discovery));
}

/** Waits until all of it is out: a pipe takes 64 KiB at a time, and the process ends behind this. */
function print(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(`${text}\n`, () => {
      resolve();
    });
  });
}
