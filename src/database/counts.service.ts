import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { CountDrift } from './record-counts.js';
import { repositoriesOf } from './tenant-repositories.js';

/** Proves and mends the counts of every table that keeps them. */
@Injectable()
export class CountsService {
  constructor(private readonly discovery: DiscoveryService) {}

  /**
   * Compares the counts of an organization with its records.
   * @returns the counts that are wrong
   * @throws ApiError `query_failed`
   */
  async check(organizationId: string): Promise<CountDrift[]> {
    const repositories = repositoriesOf(this.discovery);
    return inTurn(repositories, (repository) => repository.findCountDrift(organizationId));
  }

  /**
   * Mends the counts of an organization while requests are served.
   * @returns the counts that were wrong
   * @throws ApiError `create_failed`
   */
  async repair(organizationId: string): Promise<CountDrift[]> {
    const repositories = repositoriesOf(this.discovery);
    return inTurn(repositories, (repository) => repository.repairCounts(organizationId));
  }
}

async function inTurn<T, R>(all: Iterable<T>, each: (one: T) => Promise<R[]>): Promise<R[]> {
  const results: R[] = [];
  for (const one of all) results.push(...(await each(one)));
  return results;
}
