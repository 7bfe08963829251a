import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ParentProcess } from './parent-process.js';

/** Provides the parent to every module of a worker. */
@Global()
@Module({})
export class ParentModule {
  static forRoot(parent: ParentProcess): DynamicModule {
    const providers = [{ provide: ParentProcess, useValue: parent }];
    return { module: ParentModule, providers, exports: [ParentProcess] };
  }
}
