import { Injectable } from '@nestjs/common';
import { UUID } from '../fields/kinds/uuid.js';
import type { Actor } from '../data/actor.js';
import { AccessRepository } from './access.repository.js';
import { systemActor } from './system-actor.js';

/** Creates actors of organizations for callers without an API key. */
@Injectable()
export class OrganizationActors {
  constructor(private readonly repository: AccessRepository) {}

  /**
   * @param caller what the log names in place of a key
   * @returns an actor with every scope; undefined if the organization does not exist
   */
  async find(organizationId: string, caller: string): Promise<Actor | undefined> {
    if (!UUID.test(organizationId)) return undefined;
    const organization = await this.repository.findOrganization(organizationId);
    return organization && systemActor(organization, { id: caller, name: caller });
  }
}
