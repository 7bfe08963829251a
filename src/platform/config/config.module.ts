import { type DynamicModule, Global, Inject, Module } from '@nestjs/common';
import { Settings } from './settings.js';

/** Provides the settings to every module. */
@Global()
@Module({})
export class ConfigModule {
  static forRoot(settings: Settings): DynamicModule {
    const values = Object.entries(settings.ofExtensions).map(([name, useValue]) => {
      return { provide: settingToken(name), useValue };
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
