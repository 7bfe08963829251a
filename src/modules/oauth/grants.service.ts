import { Injectable } from '@nestjs/common';
import { assertScopes } from '../../platform/access/scopes.js';
import { AuditLog } from '../../platform/data/audit/audit-log.js';
import type { Actor, Call, InTransaction, TenantCall } from '../../platform/data/call.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import type { Page } from '../../platform/data/lists/page.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { RecordPromise } from '../../platform/data/records/stored-record.js';
import { changedFields } from '../../platform/fields/changes.js';
import { notFound, orNotFound } from '../../platform/errors/or-not-found.js';
import type { GrantDto, RevokedGrantDto, UpdateGrantDto } from './grants.dto.js';
import { assertOfUser } from '../auth/key-rules.js';
import { KeysService } from '../auth/keys.service.js';
import { GrantsRepository } from './grants.repository.js';

/** What people have granted to clients of /mcp (docs/contract/oauth.md#grants). */
@Injectable()
export class GrantsService {
  constructor(
    private readonly repository: GrantsRepository,
    private readonly keys: KeysService,
    private readonly database: TenantDatabase,
    private readonly audit: AuditLog,
  ) {}

  /** @throws ApiError `not_found` for an unknown organization, `query_failed` */
  async listAll(organizationId: string): Promise<readonly GrantDto[]> {
    await this.keys.getOrganization(organizationId);
    return this.repository.all({ tenant: { id: organizationId } });
  }

  /** @throws ApiError `query_failed` */
  list(call: Call, query: ListQuery): Promise<Page<GrantDto>> {
    return this.repository.list(call, query);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  get(call: Call, id: string): RecordPromise<GrantDto> {
    return this.repository.find(call, id).orElse(() => notFound('grant'));
  }

  /**
   * The call of maintenance in the organization of a grant, for commands that have only its id.
   * @throws ApiError `not_found`, `query_failed`
   */
  async callOfGrant(id: string): Promise<TenantCall> {
    return { tenant: { id: orNotFound(await this.repository.findOrganization(id), 'grant') } };
  }

  /**
   * Changes whether tools ask the user. A key changes only grants that it may end.
   * @throws ApiError `not_found`, `insufficient_scope`, `key_not_manageable`, `precondition_failed`, `query_failed`,
   *   `create_failed`
   */
  update(call: TenantCall, id: string, changes: UpdateGrantDto): RecordPromise<GrantDto> {
    const update = async (inner: InTransaction) => {
      const updated = await this.repository.update(inner, id, (grant) => {
        if (call.actor) assertMayEnd(call.actor, grant);
        return grant.revoked_at ? undefined : changedFields(grant, changes);
      }).stored;
      const stored = orNotFound(updated, 'grant');
      if (!stored.isUnchanged) await this.audit.add(inner, ['grant.updated', id]);
      return stored;
    };
    return RecordPromise.of<GrantDto>(() => this.database.transaction(call, update));
  }

  /**
   * Ends a grant with its tokens and sessions. Every instance refuses them within a second. A key ends only grants
   * whose scopes it has itself, and if it has a user, only grants of keys of this user.
   * @throws ApiError `not_found`, `insufficient_scope`, `key_not_manageable`, `precondition_failed`, `query_failed`,
   *   `create_failed`
   */
  async revoke(call: TenantCall, id: string): Promise<RevokedGrantDto> {
    const revoked = await this.repository.revoke(call, id, (grant) => {
      if (call.actor) assertMayEnd(call.actor, grant);
    });
    return { id, revoked_at: orNotFound(revoked, 'grant').revoked_at ?? new Date() };
  }
}

/** @throws ApiError `insufficient_scope` that names the first missing scope, `key_not_manageable` */
function assertMayEnd(actor: Actor, grant: GrantDto): void {
  assertScopes(actor, grant.scopes);
  assertOfUser(actor.key.userId, grant.user_id);
}
