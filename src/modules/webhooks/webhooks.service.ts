import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { AuditLog } from '../../platform/data/audit/audit-log.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { Stored } from '../../platform/data/records/stored-record.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import type { FieldProblem } from '../../platform/errors/field-problem.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { FieldDefinitionsService } from '../custom-fields/field-definitions.service.js';
import { EventTypes } from '../events/event-types.js';
import { CONTACT_SCOPE } from '../events/recorded-event.js';
import { changedFields, nullsForMissing } from '../../platform/fields/changes.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import type { Page } from '../../platform/data/lists/page.js';
import type { Call } from '../../platform/data/call.js';
import { DeliveriesService } from './deliveries.service.js';
import { createSecret } from './signature.js';
import {
  CreateWebhookDto,
  UpdateWebhookDto,
  type WebhookDto,
  type WebhookWithSecretDto,
} from './webhook.dto.js';
import { choiceProblems } from './webhook-choice.js';
import { WebhookSender } from './webhook-sender.js';
import { WebhooksRepository } from './webhooks.repository.js';

/** Maximum per organization, because each event is stored once for each webhook. */
const MAX_WEBHOOKS = 50;

/** Management of webhooks (docs/contract/webhooks.md#webhooks). */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly repository: WebhooksRepository,
    private readonly database: TenantDatabase,
    private readonly sender: WebhookSender,
    private readonly deliveries: DeliveriesService,
    private readonly types: EventTypes,
    private readonly definitions: FieldDefinitionsService,
    private readonly audit: AuditLog,
  ) {}

  /** @throws ApiError `query_failed` */
  list(call: Call, query: ListQuery): Promise<Page<WebhookDto>> {
    return this.repository.list(call, query);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  async get(call: Call, id: string): Promise<Stored<WebhookDto>> {
    return orNotFound(await this.repository.find(call, id).stored, 'webhook');
  }

  /**
   * Checks whether the key may create a webhook. It runs before a stored response is repeated, because the
   * response has the secret.
   * @throws ApiError `validation_error` that names `types`, `url`, `changed` or a part of `filter`
   */
  async assertAllowed(call: Call, input: CreateWebhookDto): Promise<void> {
    await this.grantedScopes(call, input);
  }

  /**
   * @returns the webhook with its secret, which cannot be read later
   * @throws ApiError `validation_error`, `too_many_webhooks`, `create_failed`
   */
  async create(call: Call, input: CreateWebhookDto): Promise<Stored<WebhookWithSecretDto>> {
    const scopes = await this.grantedScopes(call, input);
    const secret = createSecret();
    const row = { id: uuidv7(), ...nullsForMissing(CreateWebhookDto, input), secret, scopes };
    const created = await this.database.transaction(call, async (inner) => {
      const count = await this.repository.lockAndCount(inner);
      if (count >= MAX_WEBHOOKS) throw new ApiError('too_many_webhooks');
      await this.audit.add(inner, ['webhook.created', row.id]);
      return this.repository.insertRow(inner, row).stored;
    });
    return orNotFound(created, 'webhook').with({ secret });
  }

  /** @throws ApiError `not_found`, `validation_error`, `precondition_failed`, `create_failed` */
  async update(call: Call, id: string, input: UpdateWebhookDto): Promise<Stored<WebhookDto>> {
    const updated = await this.database.transaction(call, async (inner) => {
      const revise = async (stored: WebhookDto) => {
        const changes = changedFields(stored, input);
        if (!changes) return undefined;
        const next = { ...stored, ...changes };
        // After a change of the address or the types, the key needs the scopes of all types, as for a new
        // webhook.
        const isGrant = 'url' in changes || 'types' in changes;
        if ('changed' in changes || 'filter' in changes) await this.assertChoice(call, next);
        return {
          ...nullsForMissing(UpdateWebhookDto, next),
          ...(isGrant && { scopes: await this.grantedScopes(call, next) }),
          ...('enabled' in changes && { disabled_reason: null, failing_since: null }),
        };
      };
      const record = await this.repository.update(inner, id, revise).stored;
      if (record && !record.isUnchanged) await this.audit.add(inner, ['webhook.updated', id]);
      if (record && input.enabled) await this.deliveries.resume(inner, id);
      return record;
    });
    return orNotFound(updated, 'webhook');
  }

  /** @throws ApiError `not_found`, `precondition_failed`, `create_failed` */
  async delete(call: Call, id: string): Promise<{ id: string; deleted: true }> {
    await this.database.transaction(call, async (inner) => {
      orNotFound(await this.repository.remove(inner, id), 'webhook');
      await this.audit.add(inner, ['webhook.deleted', id]);
    });
    return { id, deleted: true };
  }

  /**
   * Replaces the secret. For 24 hours, events have signatures of both.
   * @throws ApiError `not_found`, `create_failed`
   */
  async rotateSecret(call: Call, id: string): Promise<Stored<WebhookWithSecretDto>> {
    const secret = createSecret();
    await this.database.transaction(call, async (inner) => {
      orNotFound(await this.repository.rotateSecret(inner, id, secret), 'webhook');
      await this.audit.add(inner, ['webhook.secret_rotated', id]);
    });
    return (await this.get(call, id)).with({ secret });
  }

  /** @throws ApiError `validation_error` that names `changed` or a part of `filter` */
  private async assertChoice(call: Call, webhook: CreateWebhookDto): Promise<void> {
    const problems = await this.choiceProblems(call, webhook);
    if (problems.length > 0) throw validationError(problems);
  }

  private async choiceProblems(call: Call, webhook: CreateWebhookDto): Promise<FieldProblem[]> {
    const defined = await this.definitions.filterFieldsOf(call);
    return choiceProblems(webhook, { types: this.types, defined });
  }

  /**
   * Checks whether a key may send events of these types to this address.
   * @returns the read scopes that the types need, and the one for the whole content of events, if the key has it
   * @throws ApiError `validation_error` that names `types`, `url`, `changed` or a part of `filter`
   */
  private async grantedScopes(call: Call, webhook: CreateWebhookDto): Promise<string[]> {
    const { url, types } = webhook;
    const scopeOf = (type: string) => this.types.scopeOf(type);
    const unknown = types.find((type) => scopeOf(type) === undefined);
    const refused = types.find((type) => !call.actor.scopes.has(scopeOf(type) ?? ''));
    const problems: FieldProblem[] = [];
    if (unknown !== undefined) {
      const message = `has the unknown type ${unknown}; the types are ${this.types.all.join(', ')}`;
      problems.push({ field: 'types', message });
    } else if (refused !== undefined) {
      const message = `has ${refused}, for which the key needs ${scopeOf(refused)}`;
      problems.push({ field: 'types', message });
    }
    if (this.sender.isRefused(url)) {
      problems.push({ field: 'url', message: 'must not have a private address' });
    }
    if (unknown === undefined) problems.push(...(await this.choiceProblems(call, webhook)));
    if (problems.length > 0) throw validationError(problems);
    const shown = call.actor.scopes.has(CONTACT_SCOPE) ? [CONTACT_SCOPE] : [];
    return [...new Set([...types.flatMap((type) => scopeOf(type) ?? []), ...shown])].sort();
  }
}
