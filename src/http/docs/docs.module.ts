import { Module } from '@nestjs/common';
import { DocsController } from './docs.controller.js';

/** `/docs`, for applications whose settings ask for it. */
@Module({ controllers: [DocsController] })
export class DocsModule {}
