import type { DiscoveryService } from '@nestjs/core';
import { TenantRepository } from './tenant-repository.js';

/** The repositories of all tables, including those of added modules. */
export function repositoriesOf(
  discovery: DiscoveryService,
): Iterable<TenantRepository<{ id: string }>> {
  const providers = discovery.getProviders().map(({ instance }): unknown => instance);
  return new Set(providers.filter((provider) => provider instanceof TenantRepository));
}
