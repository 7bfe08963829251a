import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type DiscoveryService, ModulesContainer } from '@nestjs/core';
import { getRepositoryToken, InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityMetadata, Repository } from 'typeorm';
import { logger } from '../../config/logger.js';
import { repeatWhileDown } from '../connection/repeat-while-down.js';
import { StatementWarnings } from './statement-warnings.js';
import { mapsOrganization, tablesOfOrganizations } from './tenant-table-check.js';

type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];
type InstanceProperty = ReturnType<InstanceWrapper['getPropertiesMetadata']>[number];

/** A provider or controller that uses a TypeORM repository. */
interface RepositoryUse {
  readonly provider: string;
  readonly verb: 'injects' | 'is';
  readonly entity: EntityMetadata;
}

/**
 * Warns at startup if a provider injects or is a TypeORM repository of a table with records of organizations. Its
 * statements have no organization, so that row-level security hides all rows and refuses new ones. Later warnings are
 * those of `StatementWarnings`.
 */
@Injectable()
export class RepositoryCheck implements OnModuleInit {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly modules: ModulesContainer,
    private readonly warnings: StatementWarnings,
  ) {}

  async onModuleInit(): Promise<void> {
    const entities = new Map<unknown, EntityMetadata>(
      this.dataSource.entityMetadatas
        .filter(({ target }) => typeof target === 'function')
        .map((entity) => [getRepositoryToken(entity.target as never), entity]),
    );
    const uses = this.wrappers().flatMap((wrapper) => {
      // `TypeOrmModule.forFeature()` provides a repository even if nothing injects it.
      if (entities.has(wrapper.token)) return [];
      const injected = injectedBy(wrapper, entities);
      return injected.length > 0 ? injected : this.providedBy(wrapper);
    });
    const tables = await repeatWhileDown(() => tablesOfOrganizations(this.dataSource));
    this.warnings.watch(tables);
    // An entity can map a part of the columns.
    const warnings = uses
      .filter(({ entity }) => mapsOrganization(entity) || tables.has(entity.tableName))
      .map(describe);
    for (const warning of new Set(warnings)) logger.warn(warning);
  }

  private wrappers(): InstanceWrapper[] {
    return [...this.modules.values()].flatMap(({ providers, controllers, injectables }) => [
      ...providers.values(),
      ...controllers.values(),
      ...injectables.values(),
    ]);
  }

  /** A request-scoped provider has no manager yet. Other data sources have other databases. */
  private providedBy({ name, instance }: InstanceWrapper): RepositoryUse[] {
    if (!(instance instanceof Repository)) return [];
    const { manager } = instance as Partial<Repository<object>>;
    if (manager?.dataSource !== this.dataSource) return [];
    return [{ provider: String(name), verb: 'is', entity: instance.metadata }];
  }
}

function injectedBy(
  wrapper: InstanceWrapper,
  entities: ReadonlyMap<unknown, EntityMetadata>,
): RepositoryUse[] {
  // Both are undefined without dependencies. `flat` skips parameters that Nest did not resolve.
  const parameters = (wrapper.getCtorMetadata() as InstanceWrapper[] | undefined) ?? [];
  const properties = (wrapper.getPropertiesMetadata() as InstanceProperty[] | undefined) ?? [];
  const injected = [parameters, properties.map((property) => property.wrapper)].flat();
  return injected.flatMap(({ token }) => {
    const entity = entities.get(token);
    return entity ? [{ provider: String(wrapper.name), verb: 'injects', entity }] : [];
  });
}

function describe({ provider, verb, entity: { name, tableName } }: RepositoryUse): string {
  return `${provider} ${verb} the TypeORM repository of ${name}, whose table ${tableName} holds records of organizations: it finds no rows and can write none. Use a TenantRepository of this table, or the service of the module that owns it: their methods take the organization.`;
}
