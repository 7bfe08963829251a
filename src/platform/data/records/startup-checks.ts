import { Injectable, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getRepositoryToken, InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityMetadata } from 'typeorm';
import { logger } from '../../config/logger.js';
import { Settings } from '../../config/settings.js';
import { repeatWhileDown } from '../connection/repeat-while-down.js';
import { assertCountTriggers } from './count-triggers.js';
import { StatementWarnings } from './statement-warnings.js';
import { assertTables, mapsOrganization } from './table-checks.js';
import { TenantTables } from './tenant-tables.service.js';

/** A limit of -1 means that the role or the database has no limit. */
const FIND_LIMIT = `
  select least(
    current_setting('max_connections')::int
      - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0),
    (select nullif(rolconnlimit, -1) from pg_roles where rolname = session_user),
    (select nullif(datconnlimit, -1) from pg_database where datname = current_database())
  ) as "limit"`;

/** Compares the database with what the application needs, before it serves requests. */
@Injectable()
export class StartupChecks implements OnApplicationBootstrap {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly tables: TenantTables,
    private readonly modules: ModulesContainer,
    private readonly settings: Settings,
    private readonly warnings: StatementWarnings,
  ) {}

  /** @throws Error that names each declared or mapped table which the database lacks, does not protect or not count */
  async onApplicationBootstrap(): Promise<void> {
    const { dataSource, tables } = this;
    const names = tables.all.map(({ name }) => name);
    const mapped = dataSource.entityMetadatas.filter(mapsOrganization);
    const ofOrganizations = [...names, ...mapped.map(({ tableName }) => tableName)];
    this.warnings.tables = new Set(ofOrganizations);
    await repeatWhileDown(async () => {
      await this.warnOfConnectionLimit();
      await assertTables(dataSource, this.entities, tables.declared, ofOrganizations);
      await assertCountTriggers(dataSource, tables.counted);
    });
  }

  /** Logs a warning if the database allows fewer connections than this instance may open. */
  private async warnOfConnectionLimit(): Promise<void> {
    const { databaseMaxConnections: wanted } = this.settings;
    const [row] = await this.dataSource.query<{ limit: number }[]>(FIND_LIMIT);
    if (!row || row.limit >= wanted) return;
    logger.warn(
      `DATABASE_MAX_CONNECTIONS lets this instance open up to ${wanted} connections, but the database ` +
        `allows ${row.limit}: requests fail under load`,
    );
  }

  /** The entities of `TypeOrmModule.forFeature()`. The data source also has those of other applications of the process. */
  private get entities(): EntityMetadata[] {
    const providers = [...this.modules.values()].flatMap((module) => [...module.providers.keys()]);
    const tokens = new Set<unknown>(providers);
    return this.dataSource.entityMetadatas.filter(
      ({ target }) =>
        typeof target === 'function' && tokens.has(getRepositoryToken(target as Type)),
    );
  }
}
