import { type DynamicModule, Global, Module, type Type } from '@nestjs/common';
import { DiscoveryModule, ModulesContainer } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Settings } from '../config/settings.js';
import { planConnections } from './connection/connection-plan.js';
import { assertOnlyDefaultDataSource } from './connection/default-data-source.js';
import { type DatabaseTarget, dataSourceOptions } from './connection/data-source-options.js';
import { AuditLog } from './audit/audit-log.js';
import { Instances } from './instances.js';
import { repeatWhileDown } from './connection/repeat-while-down.js';
import { SessionContext } from './connection/session-context.js';
import { ChangeBus } from './gateway/change-bus.js';
import { EventWriteSignal } from './gateway/event-write-signal.js';
import { BatchConnections } from './gateway/batch-connections.js';
import { ConcurrencyLimit, TimeBudget } from './gateway/policies.js';
import { SystemDatabase } from './gateway/system-database.js';
import { SnapshotReader } from './gateway/snapshot-reader.js';
import { BatchRunner } from './batches/batch-runner.js';
import { TenantDatabase } from './gateway/tenant-database.js';
import { Readiness } from './readiness.js';
import {
  RecordRemoval,
  ROWS_ABOUT_RECORDS,
  type RowsAboutRecords,
} from './records/record-removal.service.js';
import { ReferringRecords } from './records/referring-records.service.js';
import { StartupChecks } from './records/startup-checks.js';
import { StatementWarnings } from './records/statement-warnings.js';
import { enableSearchIndex } from './records/search-index.js';
import { TenantDataService } from './records/tenant-data.service.js';
import { tableOf } from './records/tenant-entity.js';
import { DECLARED_TABLES, TenantTables } from './records/tenant-tables.service.js';
import { ReadReplicas } from './gateway/replicas/read-replicas.js';
import { migrate } from './migrate.js';
import type { ExtensionMigrations } from './extension-migrations.js';

const PROVIDERS = [
  AuditLog,
  BatchConnections,
  ChangeBus,
  EventWriteSignal,
  TenantDatabase,
  BatchRunner,
  Instances,
  ConcurrencyLimit,
  RecordRemoval,
  ReferringRecords,
  Readiness,
  ReadReplicas,
  SystemDatabase,
  SnapshotReader,
  TenantDataService,
  TenantTables,
];

export interface DatabaseOptions {
  readonly settings: Settings;
  readonly target: DatabaseTarget;
  readonly timeBudget: TimeBudget;
  /** Name of the connections in the views of PostgreSQL. */
  readonly applicationName?: string;
  /** Called each time before this instance migrates the database or waits for another instance to do so. */
  readonly beforeMigrating?: () => Promise<void>;
  /** Whether the schema of the database, if it has one, stays as it is. */
  readonly keepsSchema?: boolean;
  /** The migrations of extensions. */
  readonly extensionMigrations: readonly ExtensionMigrations[];
  /** The entities of extensions. */
  readonly entities: readonly Type<object>[];
  /** What tables without an entity store about records, in the order of its removal. */
  readonly rowsAboutRecords: readonly RowsAboutRecords[];
}

/** Connects to PostgreSQL, runs the migrations and provides the database services to every module. */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot(options: DatabaseOptions): DynamicModule {
    const context = new SessionContext();
    context.preparesStatements = options.settings.databasePreparedStatements;
    context.hasOwnSessions = 'host' in options.target || options.target.isUnpooled === true;
    const warnings = new StatementWarnings();
    return {
      module: DatabaseModule,
      imports: [
        DiscoveryModule,
        applicationDataSource(options, context, warnings),
        TypeOrmModule.forFeature([...options.entities]),
      ],
      providers: [
        ...PROVIDERS,
        StartupChecks,
        { provide: TimeBudget, useValue: options.timeBudget },
        { provide: SessionContext, useValue: context },
        { provide: StatementWarnings, useValue: warnings },
        { provide: ROWS_ABOUT_RECORDS, useValue: options.rowsAboutRecords },
        { provide: DECLARED_TABLES, useValue: options.entities.map(tableOf) },
      ],
      exports: PROVIDERS,
    };
  }
}

/** The data source, whose transactions have the session context. */
function applicationDataSource(
  options: DatabaseOptions,
  context: SessionContext,
  warnings: StatementWarnings,
): DynamicModule {
  const { settings, target, applicationName, timeBudget } = options;
  return TypeOrmModule.forRootAsync({
    inject: [ModulesContainer],
    useFactory: (modules: ModulesContainer) => {
      assertOnlyDefaultDataSource(modules);
      return {
        ...dataSourceOptions(target, context, applicationName, timeBudget.connectionMs),
        poolSize: planConnections(settings.databaseMaxConnections).pool,
        autoLoadEntities: true,
        logger: warnings,
        // `repeatWhileDown` repeats.
        toRetry: () => false,
      };
    },
    dataSourceFactory: (typeOrm) =>
      repeatWhileDown(() => connectAndMigrate(typeOrm, context, options)),
  });
}

async function connectAndMigrate(
  typeOrm: DataSourceOptions | undefined,
  context: SessionContext,
  { beforeMigrating: before, extensionMigrations, keepsSchema }: DatabaseOptions,
): Promise<DataSource> {
  if (!typeOrm) throw new Error('the data source has no options');
  const dataSource = await new DataSource(typeOrm).initialize();
  try {
    const role = await migrate(dataSource, { before, extensionMigrations, keepsSchema });
    await enableSearchIndex(dataSource);
    // From now on, only `SystemDatabase` runs statements as the database user.
    context.transactionRole = role;
  } catch (error) {
    await dataSource.destroy();
    throw error;
  }
  return dataSource;
}
