import { Inject, Injectable, type OnApplicationBootstrap, type Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { getRepositoryToken, InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityMetadata } from 'typeorm';
import { repeatWhileDown } from '../connection/repeat-while-down.js';
import { assertMappedTables } from './mapped-table-check.js';
import type { TenantTable } from './tenant-table.js';
import { assertProtected, assertTenantTables, mapsOrganization } from './tenant-table-check.js';
import { TenantRepository } from './tenant-repository.js';

/** Injection token of the tables that extensions declare. */
export const DECLARED_TABLES = Symbol('declared tables');

/** The tables with records of organizations: those of extensions and those of all repositories. */
@Injectable()
export class TenantTables implements OnApplicationBootstrap {
  constructor(
    @Inject(DECLARED_TABLES) private readonly declared: readonly TenantTable[],
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly discovery: DiscoveryService,
  ) {}

  get all(): TenantTable[] {
    return [...new Set([...this.declared, ...this.repositories.map(({ table }) => table)])];
  }

  get repositories(): TenantRepository<{ id: string }>[] {
    return this.discovery
      .getProviders()
      .map(({ instance }): unknown => instance)
      .filter((provider) => provider instanceof TenantRepository);
  }

  /** @throws Error that names each declared or mapped table which the database lacks or does not protect */
  async onApplicationBootstrap(): Promise<void> {
    await repeatWhileDown(async () => {
      await assertMappedTables(this.dataSource, this.entities);
      await assertTenantTables(this.dataSource, this.declared);
      await assertProtected(this.dataSource, [...this.all.map(({ name }) => name), ...this.mapped]);
    });
  }

  /** The entities of `TypeOrmModule.forFeature()`. The data source also has those of other applications of the process. */
  private get entities(): EntityMetadata[] {
    const tokens = new Set<unknown>(this.discovery.getProviders().map(({ token }) => token));
    return this.dataSource.entityMetadatas.filter(
      ({ target }) =>
        typeof target === 'function' && tokens.has(getRepositoryToken(target as Type)),
    );
  }

  /** The tables with an `organization_id` that entities map. */
  private get mapped(): string[] {
    return this.dataSource.entityMetadatas
      .filter(mapsOrganization)
      .map(({ tableName }) => tableName);
  }
}
