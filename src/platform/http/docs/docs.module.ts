import { Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';

/** Serves `/docs`. `serverModule()` imports it only if the setting `DOCS` is on. */
@Module({ controllers: [DocsController] })
export class DocsModule {}
