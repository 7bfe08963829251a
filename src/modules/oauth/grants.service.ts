import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApiError } from '../../platform/errors/api-error.js';
import { EventTypes } from '../events/event-types.js';
import { KeysService } from '../auth/keys.service.js';
import {
  type Grant,
  GrantsRepository,
  type GrantingKey,
  type NewGrant,
  type Refusal,
  type ValidGrant,
} from './grants.repository.js';

/** What people have granted to clients of /mcp (docs/contract/oauth.md#grants). */
@Injectable()
export class GrantsService implements OnModuleInit {
  constructor(
    private readonly repository: GrantsRepository,
    private readonly keys: KeysService,
    private readonly eventTypes: EventTypes,
  ) {}

  onModuleInit(): void {
    for (const name of ['created', 'refused', 'revoked']) {
      this.eventTypes.declare(`grant.${name}`, 'events:read');
    }
  }

  /** @throws ApiError `not_found` for an unknown organization, `query_failed` */
  async list(organizationId: string): Promise<Grant[]> {
    await this.keys.getOrganization(organizationId);
    return this.repository.list(organizationId);
  }

  /**
   * Ends a grant with its tokens and sessions. Every instance refuses them within a second.
   * @throws ApiError `not_found`, `create_failed`
   */
  async revoke(id: string): Promise<Pick<Grant, 'id' | 'revoked_at'>> {
    const grant = await this.repository.revoke(id);
    if (!grant) throw new ApiError('not_found', { message: 'There is no such grant.' });
    return { id: grant.id, revoked_at: grant.revoked_at };
  }

  /**
   * @returns undefined for a grant that does not exist or has ended, itself or with its key
   * @throws ApiError `query_failed`
   */
  findValid(id: string): Promise<ValidGrant | undefined> {
    return this.repository.findValid(id);
  }

  /** @throws ApiError `query_failed` */
  findKey(id: string): Promise<GrantingKey | undefined> {
    return this.repository.findKey(id);
  }

  /**
   * Creates the grant of an authorization.
   * @returns false if the authorization has ended, or the key is not valid or lacks a scope
   * @throws ApiError `create_failed`
   */
  create(grant: NewGrant): Promise<boolean> {
    return this.repository.insert(grant);
  }

  /**
   * Ends an authorization without a grant.
   * @returns false if it has ended
   * @throws ApiError `create_failed`
   */
  refuse(refusal: Refusal): Promise<boolean> {
    return this.repository.refuse(refusal);
  }

  /**
   * Ends a grant, if there is one.
   * @throws ApiError `create_failed`
   */
  async end(id: string): Promise<void> {
    await this.repository.revoke(id);
  }
}
