import { NestFactory } from '@nestjs/core';
import { serverModule } from '../../app.js';
import { readSettings } from '../../platform/config/settings.js';
import type { LatitudeConfig } from '../../platform/extension/config.js';
import { settingsOf } from '../../platform/extension/extensions.js';
import { openApiDocument } from '../../platform/http/openapi/document.js';
import { localUrl } from '../../platform/http/openapi/server-url.js';

/** Builds the OpenAPI document in Nest's preview mode, which instantiates no providers. */
export async function describeApi(config: LatitudeConfig) {
  const settings = readSettings(undefined, settingsOf(config.extensions));
  const root = serverModule({ ...config, settings, database: { url: '' } });
  const preview = await NestFactory.create(root, {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  return openApiDocument(preview, localUrl(settings.port));
}
