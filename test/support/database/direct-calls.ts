import { randomBytes, randomUUID } from 'node:crypto';
import type { Abstract, Type } from '@nestjs/common';
import { AuditRepository } from '../../../src/modules/audit/audit.repository.js';
import { GrantsRepository } from '../../../src/modules/oauth/grants.repository.js';
import { KeysRepository } from '../../../src/modules/auth/keys.repository.js';
import { OperatorsRepository } from '../../../src/modules/auth/operators.repository.js';
import { OrganizationsRepository } from '../../../src/modules/auth/organizations.repository.js';
import { FieldRulesRepository } from '../../../src/modules/custom-fields/field-rules.repository.js';
import { FieldValuesRepository } from '../../../src/modules/custom-fields/field-values.repository.js';
import { EventHandlersRepository } from '../../../src/modules/events/event-handlers.repository.js';
import { EventLogRepository } from '../../../src/modules/events/event-log.repository.js';
import { EventsRepository } from '../../../src/modules/events/events.repository.js';
import { ContactIdentityRepository } from '../../../src/modules/leads/contact-identity/contact-identity.repository.js';
import { LeadFormsRepository } from '../../../src/modules/leads/duplicates/lead-forms.repository.js';
import { LeadsRepository } from '../../../src/modules/leads/leads.repository.js';
import { LeadImportsRepository } from '../../../src/modules/leads/transfer/lead-imports.repository.js';
import { ConfirmationSecretRepository } from '../../../src/modules/mcp/tools/confirmation-secret.repository.js';
import { SessionsRepository } from '../../../src/modules/mcp/sessions/sessions.repository.js';
import { ErasuresRepository } from '../../../src/modules/personal-data/erasures.repository.js';
import { TasksRepository } from '../../../src/modules/tasks/tasks.repository.js';
import { DeliveriesRepository } from '../../../src/modules/webhooks/deliveries.repository.js';
import { WebhooksRepository } from '../../../src/modules/webhooks/webhooks.repository.js';
import { CredentialStore } from '../../../src/platform/access/credential-store.js';
import type { Call, InTransaction } from '../../../src/platform/data/call.js';
import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { Readiness } from '../../../src/platform/data/readiness.js';
import { RecordRemoval } from '../../../src/platform/data/records/record-removal.service.js';
import { TenantDataService } from '../../../src/platform/data/records/tenant-data.service.js';
import { IdempotencyRepository } from '../../../src/platform/http/response/idempotency.repository.js';
import { JOB_LEASES, JobQueueRepository } from '../../../src/platform/jobs/job-queue.repository.js';
import { Leases } from '../../../src/platform/jobs/leases.js';
import type { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

const ID = randomUUID();
const LATER = new Date('2100-01-01T00:00:00Z');
const DAY = 86_400_000;

/** Drops the newest partition of events, so that `maintainPartitions` creates it again. */
async function dropLastPartition(server: TestApp): Promise<void> {
  const [last] = await server.sql<{ name: string }>(
    `select max(relname) as name from pg_class where relname ~ '^events_\\d+$'`,
  );
  await server.sql(`drop table ${last!.name}`);
}

/** Extends the lease of a job, as a timer does while a job runs. */
async function extendLease(leases: Leases, job: object): Promise<void> {
  let end = (): void => undefined;
  const work = () => new Promise<void>((resolve) => (end = resolve));
  const running = leases.during(JOB_LEASES, job, work);
  await (Reflect.get(leases, 'extend') as () => Promise<void>).call(leases);
  end();
  await running;
}

/**
 * Sends the statements that no request sends: those of background work, commands, sign-in and subscriptions. The test of
 * all statements records them.
 */
export async function callMethodsWithoutRoute(server: TestApp, tenant: Tenant): Promise<void> {
  const { app } = server;
  const call = await server.call(tenant);
  await dropLastPartition(server);
  const withKey = (more: object) =>
    ({ ...call, actor: { ...call.actor, key: { ...call.actor.key, ...more } } }) as never;
  const get = <T>(type: Type<T> | Abstract<T>) => app.get(type, { strict: false });
  const job = { id: ID, name: 'x', payload: {}, attempts: 1, organization_id: call.tenant.id };
  /** What a person answers to an authorization that waits. */
  const answer = async () => {
    const interactionHash = randomBytes(32);
    await server.sql(
      `insert into oauth_artifacts (id_hash, kind, payload, expires_at) values ($1, 'Interaction', '{}', now() + interval '1 hour')`,
      [interactionHash],
    );
    const grant = { interactionHash, id: ID, client_id: 'c', client_name: 'c' };
    return { ...grant, resource: 'r', scopes: ['leads:read'] };
  };
  const key = { id: ID, organization_id: call.tenant.id } as never;
  const handler = { name: 'none', claim: ID } as never;
  const forms = { id: ID, names: [], emails: [], phones: [] } as never;
  const rule = { id: ID, field_id: ID, key: 'age', type: 'number', options: [] } as never;
  /** Runs work in a transaction that is rolled back. */
  const rolledBack = (work: (inner: InTransaction<Call>) => Promise<unknown>) => () =>
    get(TenantDatabase).dryRun(call, work);
  const calls: (() => Promise<unknown>)[] = [
    () => get(JobQueueRepository).claim([]),
    () => get(JobQueueRepository).oldestDue(['none']),
    () => get(JobQueueRepository).remove(job as never),
    () => get(JobQueueRepository).release(job as never),
    () => get(JobQueueRepository).retry(job as never, 'error', 1),
    () => get(JobQueueRepository).fail(job as never, 'error'),
    () => get(JobQueueRepository).removeOldFailures(),
    () => get(JobQueueRepository).listFailed({}),
    () => get(JobQueueRepository).retryFailed({}),
    () => get(JobQueueRepository).sendToAllOrganizations('none'),
    () => get(JobQueueRepository).now(),
    () => get(JobQueueRepository).registerSchedule('none', LATER),
    () => get(JobQueueRepository).findDueSchedules([]),
    () => get(JobQueueRepository).claimSchedule('none', LATER),
    () => get(JobQueueRepository).releaseSchedule('none', LATER),
    () => extendLease(get(Leases), job),
    () => get(IdempotencyRepository).deleteExpired(),
    rolledBack((inner) =>
      get(IdempotencyRepository).claim({ ...inner, actor: { key: { operatorId: ID } } } as never, {
        key: 'k',
        route: 'r',
        content: '',
      }),
    ),
    () => get(LeadsRepository).findNames(call, [ID]),
    () => get(LeadsRepository).findSurvivor(call, ID, true),
    () => get(LeadImportsRepository).removeOld(call),
    () => get(LeadImportsRepository).cancelBegunBefore(call, LATER, 'x'),
    rolledBack((inner) => get(LeadFormsRepository).remove(inner, [ID])),
    rolledBack((inner) => get(LeadFormsRepository).readGroup(inner, ID, 2)),
    rolledBack((inner) => get(LeadFormsRepository).sizesOf(inner, [ID], 2)),
    rolledBack((inner) =>
      get(LeadFormsRepository).setGroups(inner, [{ id: ID, group_id: ID }] as never),
    ),
    rolledBack((inner) => get(LeadFormsRepository).moveGroups(inner, [ID], ID)),
    rolledBack((inner) => get(LeadFormsRepository).findLinks(inner, [forms])),
    () => get(LeadFormsRepository).readNext(call, undefined, 2),
    rolledBack((inner) => get(ContactIdentityRepository).lockNextBatch(inner, { limit: 2 })),
    () => get(ContactIdentityRepository).hasToRefill(call),
    rolledBack((inner) => get(ContactIdentityRepository).lockToRefill(inner, { limit: 2 })),
    rolledBack((inner) => get(ContactIdentityRepository).lockOne(inner, ID)),
    rolledBack((inner) =>
      get(ContactIdentityRepository).clearNormalized(inner, 'email_compared', []),
    ),
    rolledBack((inner) => get(ContactIdentityRepository).setNormalized(inner, [])),
    rolledBack((inner) => get(ContactIdentityRepository).findWithoutNormalized(inner)),
    rolledBack((inner) => get(FieldRulesRepository).withdraw(inner, ID, true)),
    () => get(FieldValuesRepository).removeValues(call, ID),
    () => get(FieldValuesRepository).findHolders(call, [{ rule, value: 1 }]),
    rolledBack((inner) => get(TasksRepository).clearReference(inner, 'contact_id', [ID])),
    () => get(TasksRepository).writeScheduled(call, 'overdue'),
    () => get(TasksRepository).insertMany(call, [{ id: ID, title: 'Call' }]),
    rolledBack((inner) => get(TasksRepository).lockLead(inner, ID)),
    () => get(EventHandlersRepository).register(['none']),
    () => get(EventHandlersRepository).claim(['none']),
    () => get(EventHandlersRepository).advance(handler, 1),
    () => get(EventHandlersRepository).release(handler),
    () => get(EventHandlersRepository).retry(handler, 'error', 1),
    () => get(EventLogRepository).publish(),
    () => get(EventLogRepository).findScheduled([]),
    () => get(EventLogRepository).readAfter(0, 1, {}, 1),
    () => get(EventLogRepository).readMarks(0, 1, 1),
    () => get(EventLogRepository).readAt([1]),
    () => get(EventLogRepository).readOfRecord(ID),
    () => get(EventLogRepository).maintainPartitions(DAY),
    () => get(EventsRepository).findChanged(call, 0, [ID], ['lead.created']),
    () => get(WebhooksRepository).disable(call, ID, 'failing'),
    () => get(WebhooksRepository).storeFailure(call, ID, false),
    rolledBack((inner) => get(DeliveriesRepository).resume(inner, ID)),
    () => get(DeliveriesRepository).removeOld(call, DAY),
    () => get(AuditRepository).removeOlder(DAY),
    () => get(AuditRepository).emptyAddressesOlder(DAY),
    () => get(ErasuresRepository).findErased(call, ID),
    () => get(ErasuresRepository).list(call),
    () => get(KeysRepository).all(call),
    () => get(KeysRepository).revokeAll({ tenant: { id: ID } }),
    () => get(GrantsRepository).all(call),
    () => get(GrantsRepository).findValid(ID),
    () => get(GrantsRepository).findKey(ID),
    async () => get(GrantsRepository).grant(key, await answer(), { requestId: ID } as never),
    async () => get(GrantsRepository).refuse(key, await answer()),
    () => get(GrantsRepository).end(ID),
    () => get(SessionsRepository).find([ID]),
    () => get(SessionsRepository).postponeEnds([ID]),
    () => get(SessionsRepository).nextStreamNumber(ID),
    () => get(SessionsRepository).deleteAll(ID, LATER),
    () => get(SessionsRepository).delete(ID),
    () => get(CredentialStore).updateLastUsed(withKey({ grant: { id: ID } })),
    () => get(CredentialStore).updateLastUsed(withKey({ operatorId: ID })),
    () => get(CredentialStore).findOperatorKey(Buffer.alloc(32)),
    () => get(CredentialStore).findScopes([ID]),
    () => get(CredentialStore).findOrganization(ID),
    () => get(OperatorsRepository).listKeys(),
    () => get(OrganizationsRepository).list(),
    () => get(OrganizationsRepository).findIdByKey(ID),
    () => get(OrganizationsRepository).delete(ID),
    () => get(OrganizationsRepository).setDefaultPhoneRegion('US'),
    () => get(ConfirmationSecretRepository).get(),
    () => get(Readiness).check(),
    rolledBack((inner) => get(RecordRemoval).eraseCopies(inner, [ID])),
    () => get(RecordRemoval).countPurgeable(call, LATER),
    () => get(RecordRemoval).purge(call, LATER, () => undefined),
    () => get(TenantDataService).count(call),
    () => get(TenantDataService).checkCounts(call),
    () => get(TenantDataService).repairCounts(call),
    () => get(TenantDataService).remove(call, () => undefined),
  ];
  // A call may fail, because its values are those of no record. Its statement was sent then.
  for (const start of calls) await start().catch(() => undefined);
}
