import type { DynamicModule, Type } from '@nestjs/common';
import type { Extension } from './extension.js';

/** What an application adds to Latitude. */
export interface LatitudeConfig {
  readonly extensions: readonly Extension[];
  /** Nest modules that belong to no extension, such as a `ScheduleModule.forRoot()`. */
  readonly modules: readonly (Type<unknown> | DynamicModule)[];
}

/** Declares an application, for `run` and the command line. */
export function defineConfig({
  extensions = [],
  modules = [],
}: Partial<LatitudeConfig> = {}): LatitudeConfig {
  return { extensions, modules };
}
