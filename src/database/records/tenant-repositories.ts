import type { DiscoveryService } from '@nestjs/core';
import { TenantRepository } from './tenant-repository.js';

/** The repositories of all tables of tenants, of a team's own modules too. */
export function repositoriesOf(
  discovery: DiscoveryService,
): Iterable<TenantRepository<{ id: string }>> {
  const providers = discovery.getProviders().map(({ instance }): unknown => instance);
  return new Set(providers.filter((provider) => provider instanceof TenantRepository));
}
