import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getRepositoryToken, InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityMetadata } from 'typeorm';
import { injectedTokensOf } from './nest-injection-internals.js';

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
  onModuleInit(): void {
    const entities = new Map(
      this.dataSource.entityMetadatas
        .filter(isOfOrganizations)
        .map((entity) => [getRepositoryToken(entity.target as never), entity]),
    );
    const faults = this.injectors().flatMap(({ name, tokens }) =>
      tokens.flatMap((token) => {
        const entity = entities.get(token as string);
        return entity ? [describe(name, entity)] : [];
      }),
    );
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

function isOfOrganizations({ columns, target }: EntityMetadata): boolean {
  const names = columns.map(({ databaseName }) => databaseName);
  return typeof target === 'function' && names.includes('organization_id');
}

function describe(provider: string, { name, tableName }: EntityMetadata): string {
  return `${provider} injects the TypeORM repository of ${name}, whose table ${tableName} holds records of organizations. Use a TenantRepository of this table, or the service of the module that owns it: their methods take the organization.`;
}
