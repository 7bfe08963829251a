import type { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { getRepositoryToken } from '@nestjs/typeorm';
import { type DataSource, type EntityMetadata, Repository } from 'typeorm';
import { logger } from '../../config/logger.js';
import { mapsOrganization } from './tenant-table-check.js';

type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];
type InstanceProperty = ReturnType<InstanceWrapper['getPropertiesMetadata']>[number];

/** A provider or controller that uses a TypeORM repository. */
interface RepositoryUse {
  readonly provider: string;
  readonly verb: 'injects' | 'is';
  readonly entity: EntityMetadata;
}

/**
 * Warns if a provider injects or is a TypeORM repository of a table with records of organizations. Its statements
 * have no organization, so that row-level security hides all rows and refuses new ones. Later
 * warnings are those of `StatementWarnings`.
 * @param tables the names of the tables
 */
export function warnOfRepositories(
  dataSource: DataSource,
  modules: ModulesContainer,
  tables: readonly string[],
): void {
  const entities = new Map<unknown, EntityMetadata>(
    dataSource.entityMetadatas
      .filter(({ target }) => typeof target === 'function')
      .map((entity) => [getRepositoryToken(entity.target as never), entity]),
  );
  const warnings = wrappersIn(modules)
    // `TypeOrmModule.forFeature()` provides a repository even if nothing injects it.
    .filter(({ token }) => !entities.has(token))
    .flatMap((wrapper) => {
      const injected = injectedBy(wrapper, entities);
      return injected.length > 0 ? injected : providedBy(wrapper, dataSource);
    })
    // An entity can map a part of the columns.
    .filter(({ entity }) => mapsOrganization(entity) || tables.includes(entity.tableName))
    .map(describe);
  for (const warning of new Set(warnings)) logger.warn(warning);
}

function wrappersIn(modules: ModulesContainer): InstanceWrapper[] {
  return [...modules.values()].flatMap(({ providers, controllers, injectables }) => [
    ...providers.values(),
    ...controllers.values(),
    ...injectables.values(),
  ]);
}

/** A request-scoped provider has no manager yet. Other data sources have other databases. */
function providedBy({ name, instance }: InstanceWrapper, dataSource: DataSource): RepositoryUse[] {
  if (!(instance instanceof Repository)) return [];
  const { manager } = instance as Partial<Repository<object>>;
  if (manager?.dataSource !== dataSource) return [];
  return [{ provider: String(name), verb: 'is', entity: instance.metadata }];
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
