import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getRepositoryToken, InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityMetadata } from 'typeorm';
import { injectedTokensOf } from './nest-injection-internals.js';

/** The tables of the schema with an `organization_id`. */
const FIND_TABLES = `
  select relname as name from pg_class join pg_attribute on attrelid = pg_class.oid
  where relnamespace = (select oid from pg_namespace where nspname = current_schema())
    and relkind in ('r', 'p') and attname = 'organization_id' and not attisdropped`;

/**
 * Fails startup if a provider injects a TypeORM repository of a table with records of organizations.
 * Its statements would have no organization, so that row-level security would hide all rows.
 */
@Injectable()
export class RepositoryCheck implements OnModuleInit {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly modules: ModulesContainer,
  ) {}

  /** @throws Error whose message has one line for each injected repository */
  async onModuleInit(): Promise<void> {
    const entities = new Map<unknown, EntityMetadata>(
      this.dataSource.entityMetadatas
        .filter(({ target }) => typeof target === 'function')
        .map((entity) => [getRepositoryToken(entity.target as never), entity]),
    );
    const injected = this.injectors().flatMap(({ name, tokens }) =>
      tokens.flatMap((token) => {
        const entity = entities.get(token);
        return entity ? [{ name, entity }] : [];
      }),
    );
    if (injected.length === 0) return;
    const tables = await this.tablesOfOrganizations();
    const faults = injected
      .filter(({ entity }) => mapsOrganization(entity) || tables.has(entity.tableName))
      .map(({ name, entity }) => describe(name, entity));
    if (faults.length > 0) throw new Error([...new Set(faults)].join('\n'));
  }

  private async tablesOfOrganizations(): Promise<ReadonlySet<string>> {
    const found = await this.dataSource.query<{ name: string }[]>(FIND_TABLES);
    return new Set(found.map(({ name }) => name));
  }

  /** The providers and controllers of all modules with the tokens that they inject. */
  private injectors(): { name: string; tokens: unknown[] }[] {
    return [...this.modules.values()].flatMap(({ providers, controllers, injectables }) =>
      [...providers.values(), ...controllers.values(), ...injectables.values()].map((wrapper) => ({
        name: String(wrapper.name),
        tokens: injectedTokensOf(wrapper),
      })),
    );
  }
}

/** An entity can map a part of the columns. */
function mapsOrganization({ columns }: EntityMetadata): boolean {
  return columns.some(({ databaseName }) => databaseName === 'organization_id');
}

function describe(provider: string, { name, tableName }: EntityMetadata): string {
  return `${provider} injects the TypeORM repository of ${name}, whose table ${tableName} holds records of organizations. Use a TenantRepository of this table, or the service of the module that owns it: their methods take the organization.`;
}
