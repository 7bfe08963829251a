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

/** The partition of the last day that was created ahead, which is then created again. */
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

/** Calls the methods to which no request leads: of background work, commands, sign-in and subscriptions. */
export async function callOtherMethods(server: TestApp, tenant: Tenant): Promise<void> {
  const { app } = server;
  const call = await server.call(tenant);
  const withKey = (more: object) =>
    ({ ...call, actor: { ...call.actor, key: { ...call.actor.key, ...more } } }) as never;
  await dropLastPartition(server);
  const of = <T>(type: Type<T> | Abstract<T>) => app.get(type, { strict: false });
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
  const inside = (work: (inner: InTransaction<Call>) => Promise<unknown>) => () =>
    of(TenantDatabase).dryRun(call, work);
  const calls: (() => Promise<unknown>)[] = [
    () => of(JobQueueRepository).claim([]),
    () => of(JobQueueRepository).oldestDue(['none']),
    () => of(JobQueueRepository).remove(job as never),
    () => of(JobQueueRepository).release(job as never),
    () => of(JobQueueRepository).retry(job as never, 'error', 1),
    () => of(JobQueueRepository).fail(job as never, 'error'),
    () => of(JobQueueRepository).removeOldFailures(),
    () => of(JobQueueRepository).listFailed({}),
    () => of(JobQueueRepository).retryFailed({}),
    () => of(JobQueueRepository).sendToAllOrganizations('none'),
    () => of(JobQueueRepository).now(),
    () => of(JobQueueRepository).registerSchedule('none', LATER),
    () => of(JobQueueRepository).findDueSchedules([]),
    () => of(JobQueueRepository).claimSchedule('none', LATER),
    () => of(JobQueueRepository).releaseSchedule('none', LATER),
    () => extendLease(of(Leases), job),
    () => of(IdempotencyRepository).deleteExpired(),
    inside((inner) =>
      of(IdempotencyRepository).claim({ ...inner, actor: { key: { operatorId: ID } } } as never, {
        key: 'k',
        route: 'r',
        content: '',
      }),
    ),
    () => of(LeadsRepository).findNames(call, [ID]),
    () => of(LeadsRepository).findSurvivor(call, ID, true),
    () => of(LeadImportsRepository).removeOld(call),
    () => of(LeadImportsRepository).cancelBegunBy(call, LATER, 'x'),
    inside((inner) => of(LeadFormsRepository).remove(inner, [ID])),
    inside((inner) => of(LeadFormsRepository).readGroup(inner, ID, 2)),
    inside((inner) => of(LeadFormsRepository).sizesOf(inner, [ID], 2)),
    inside((inner) =>
      of(LeadFormsRepository).setGroups(inner, [{ id: ID, group_id: ID }] as never),
    ),
    inside((inner) => of(LeadFormsRepository).moveGroups(inner, [ID], ID)),
    inside((inner) => of(LeadFormsRepository).findLinks(inner, [forms])),
    () => of(LeadFormsRepository).readNext(call, undefined, 2),
    inside((inner) => of(ContactIdentityRepository).lockNextBatch(inner, { limit: 2 })),
    () => of(ContactIdentityRepository).hasToRefill(call),
    inside((inner) => of(ContactIdentityRepository).lockToRefill(inner, { limit: 2 })),
    inside((inner) => of(ContactIdentityRepository).lockOne(inner, ID)),
    inside((inner) => of(ContactIdentityRepository).clearNormalized(inner, 'email_compared', [])),
    inside((inner) => of(ContactIdentityRepository).setNormalized(inner, [])),
    inside((inner) => of(ContactIdentityRepository).findWithoutNormalized(inner)),
    inside((inner) => of(FieldRulesRepository).withdraw(inner, ID, true)),
    () => of(FieldValuesRepository).removeValues(call, ID),
    () => of(FieldValuesRepository).findHolders(call, [{ rule, value: 1 }]),
    inside((inner) => of(TasksRepository).clearReference(inner, 'contact_id', [ID])),
    () => of(TasksRepository).writeScheduled(call, 'overdue'),
    () => of(TasksRepository).insertMany(call, [{ id: ID, title: 'Call' }]),
    inside((inner) => of(TasksRepository).lockLead(inner, ID)),
    () => of(EventHandlersRepository).register(['none']),
    () => of(EventHandlersRepository).claim(['none']),
    () => of(EventHandlersRepository).advance(handler, 1),
    () => of(EventHandlersRepository).release(handler),
    () => of(EventHandlersRepository).retry(handler, 'error', 1),
    () => of(EventLogRepository).publish(),
    () => of(EventLogRepository).findScheduled([]),
    () => of(EventLogRepository).readAfter(0, 1, {}, 1),
    () => of(EventLogRepository).readMarks(0, 1, 1),
    () => of(EventLogRepository).readAt([1]),
    () => of(EventLogRepository).readOfRecord(ID),
    () => of(EventLogRepository).maintainPartitions(DAY),
    () => of(EventsRepository).findChanged(call, 0, [ID], ['lead.created']),
    () => of(WebhooksRepository).disable(call, ID, 'failing'),
    () => of(WebhooksRepository).storeFailure(call, ID, false),
    inside((inner) => of(DeliveriesRepository).resume(inner, ID)),
    () => of(DeliveriesRepository).removeOld(call, DAY),
    () => of(AuditRepository).removeOlder(DAY),
    () => of(AuditRepository).emptyAddressesOlder(DAY),
    () => of(ErasuresRepository).findErased(call, ID),
    () => of(ErasuresRepository).list(call),
    () => of(KeysRepository).all(call),
    () => of(KeysRepository).revokeAll({ tenant: { id: ID } }),
    () => of(GrantsRepository).all(call),
    () => of(GrantsRepository).findValid(ID),
    () => of(GrantsRepository).findKey(ID),
    async () => of(GrantsRepository).grant(key, await answer(), { requestId: ID } as never),
    async () => of(GrantsRepository).refuse(key, await answer()),
    () => of(GrantsRepository).end(ID),
    () => of(SessionsRepository).find([ID]),
    () => of(SessionsRepository).postponeEnds([ID]),
    () => of(SessionsRepository).nextStreamNumber(ID),
    () => of(SessionsRepository).deleteAll(ID, LATER),
    () => of(SessionsRepository).delete(ID),
    () => of(CredentialStore).updateLastUsed(withKey({ grant: { id: ID } })),
    () => of(CredentialStore).updateLastUsed(withKey({ operatorId: ID })),
    () => of(CredentialStore).findOperatorKey(Buffer.alloc(32)),
    () => of(CredentialStore).findScopes([ID]),
    () => of(CredentialStore).findOrganization(ID),
    () => of(OperatorsRepository).listKeys(),
    () => of(OrganizationsRepository).list(),
    () => of(OrganizationsRepository).findIdByKey(ID),
    () => of(OrganizationsRepository).delete(ID),
    () => of(OrganizationsRepository).setDefaultPhoneRegion('US'),
    () => of(ConfirmationSecretRepository).get(),
    () => of(Readiness).check(),
    inside((inner) => of(RecordRemoval).eraseCopies(inner, [ID])),
    () => of(RecordRemoval).countPurgeable(call, LATER),
    () => of(RecordRemoval).purge(call, LATER, () => undefined),
    () => of(TenantDataService).count(call),
    () => of(TenantDataService).checkCounts(call),
    () => of(TenantDataService).repairCounts(call),
    () => of(TenantDataService).remove(call, () => undefined),
  ];
  // A call may fail, because its values are those of no record. Its statement was sent then.
  for (const start of calls) await start().catch(() => undefined);
}
