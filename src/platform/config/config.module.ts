import { type DynamicModule, Global, Inject, Module } from '@nestjs/common';
import { Settings } from './settings.js';

/** Provides the settings to every module. */
@Global()
@Module({})
export class ConfigModule {
  /** @param declared names of the settings of extensions */
  static forRoot(settings: Settings, declared: readonly string[] = []): DynamicModule {
    const values = declared.map((name) => {
      return { provide: settingToken(name), useValue: settings.ofExtensions[name] };
    });
    return {
      module: ConfigModule,
      providers: [{ provide: Settings, useValue: settings }, ...values],
      exports: [Settings, ...values.map(({ provide }) => provide)],
    };
  }
}

/** The injection token of a setting that an extension declares. */
export function settingToken(name: string): string {
  return `setting ${name}`;
}

/** Injects the value of a setting that an extension declares. */
export const InjectSetting = (name: string) => Inject(settingToken(name));
