import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { CountedTable } from './record-counts.js';
import type { TenantTable } from './tenant-entity.js';
import { TenantRepository } from './tenant-repository.js';

/** Injection token of the tables that extensions declare. */
export const DECLARED_TABLES = Symbol('declared tables');

/** The tables with records of organizations: those of extensions and those of all repositories. */
@Injectable()
export class TenantTables {
  constructor(
    @Inject(DECLARED_TABLES) readonly declared: readonly TenantTable[],
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

  has(name: string): boolean {
    return this.all.some((table) => table.name === name);
  }

  repositoryOf(name: string): TenantRepository<{ id: string }> | undefined {
    return this.repositories.find(({ table }) => table.name === name);
  }

  /** The tables whose records triggers count. */
  get counted(): CountedTable[] {
    return this.all.flatMap(({ counted, ...table }) => (counted ? { ...table, counted } : []));
  }
}
