import { Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';

/** Serves `/docs`, if the settings switch it on. */
@Module({ controllers: [DocsController] })
export class DocsModule {}
