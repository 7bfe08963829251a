import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getRepositoryToken, InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityMetadata } from 'typeorm';
import { injectedTokensOf } from './nest-injection-internals.js';
import { mapsOrganization, tablesOfOrganizations } from './tenant-table-check.js';

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
    const tables = await tablesOfOrganizations(this.dataSource);
    // An entity can map a part of the columns.
    const faults = injected
      .filter(({ entity }) => mapsOrganization(entity) || tables.has(entity.tableName))
      .map(({ name, entity }) => describe(name, entity));
    if (faults.length > 0) throw new Error([...new Set(faults)].join('\n'));
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

function describe(provider: string, { name, tableName }: EntityMetadata): string {
  return `${provider} injects the TypeORM repository of ${name}, whose table ${tableName} holds records of organizations. Use a TenantRepository of this table, or the service of the module that owns it: their methods take the organization.`;
}
