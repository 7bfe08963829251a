import { Injectable, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getRepositoryToken, InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityMetadata } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { warnOfConnectionLimit } from '../connection/connection-limit.js';
import { repeatWhileDown } from '../connection/repeat-while-down.js';
import { assertCountTriggers } from './count-triggers.js';
import { StatementWarnings } from './statement-warnings.js';
import { assertTables, mapsOrganization } from './table-checks.js';
import { TenantTables } from './tenant-tables.service.js';

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
    this.warnings.watch(new Set(ofOrganizations));
    await repeatWhileDown(async () => {
      await warnOfConnectionLimit(dataSource, this.settings.databaseMaxConnections);
      await assertTables(dataSource, this.entities, tables.declared, ofOrganizations);
      await assertCountTriggers(dataSource, tables.counted);
    });
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
