import { Injectable } from '@nestjs/common';
import { UUID } from '../fields/uuid.js';
import type { Actor } from '../tenancy/actor.js';
import { AuthRepository } from './auth.repository.js';
import { SCOPES } from './scopes.js';

/** Creates actors of organizations for callers without an API key. */
@Injectable()
export class OrganizationActors {
  constructor(private readonly repository: AuthRepository) {}

  /**
   * @param caller what the log names in place of a key
   * @returns an actor with every scope; undefined if the organization does not exist
   */
  async find(organizationId: string, caller: string): Promise<Actor | undefined> {
    if (!UUID.test(organizationId)) return undefined;
    const organization = await this.repository.findOrganization(organizationId);
    if (!organization) return undefined;
    const { id, name, phone_region: phoneRegion } = organization;
    return {
      organization: { id, name, phoneRegion },
      key: { id: caller, name: caller, expiresAt: null, userId: null },
      scopes: new Set(SCOPES),
      channel: 'api',
    };
  }
}
