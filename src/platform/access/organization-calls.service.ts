import { Injectable } from '@nestjs/common';
import { UUID } from '../fields/kinds/uuid.js';
import type { Call } from '../data/call.js';
import { AccessRepository } from './access.repository.js';
import { systemCall } from './system-call.js';

/** Creates calls of organizations for callers without an API key. */
@Injectable()
export class OrganizationCalls {
  constructor(private readonly repository: AccessRepository) {}

  /**
   * @param caller what the log names in place of a key
   * @returns a call with every scope; undefined if the organization does not exist
   */
  async find(organizationId: string, caller: string): Promise<Call | undefined> {
    if (!UUID.test(organizationId)) return undefined;
    const organization = await this.repository.findOrganization(organizationId);
    return organization && systemCall(organization, { id: caller, name: caller });
  }
}
