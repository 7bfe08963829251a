import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Changes } from '../events/changes.js';
import { type DatabaseTarget, dataSourceOptions } from './data-source-options.js';
import { CountsService } from './counts.service.js';
import { DatabaseStatus } from './database-status.js';
import { Load } from './load.js';
import { migrate } from './migrate.js';
import { Patience } from './patience.js';
import { PurgeService } from './purge.service.js';
import { SharedLookups } from './shared-lookups.js';
import { StoredAnswersRepository } from './stored-answers.repository.js';
import { TenantDatabase } from './tenant-database.js';

const PROVIDERS = [
  Changes,
  TenantDatabase,
  DatabaseStatus,
  Load,
  CountsService,
  PurgeService,
  SharedLookups,
  StoredAnswersRepository,
];

/** Connects to PostgreSQL, migrates it, and offers the gateway to every module. */
@Global()
@Module({})
export class DatabaseModule {
  static to(target: DatabaseTarget, patience: Patience): DynamicModule {
    return {
      module: DatabaseModule,
      imports: [
        DiscoveryModule,
        TypeOrmModule.forRootAsync({
          useFactory: () => ({
            ...dataSourceOptions(target),
            autoLoadEntities: true,
            retryAttempts: 0,
          }),
          dataSourceFactory: connectAndMigrate,
        }),
      ],
      providers: [...PROVIDERS, { provide: Patience, useValue: patience }],
      exports: PROVIDERS,
    };
  }
}

async function connectAndMigrate(options?: DataSourceOptions): Promise<DataSource> {
  if (!options) throw new Error('the data source has no options');
  const dataSource = await new DataSource(options).initialize();
  await migrate(dataSource);
  return dataSource;
}
