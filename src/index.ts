/** The exports for extensions of a team. Other files of the package are internal. */

// Declaration merging reaches an interface only through `export *`.
export * from './config/registered-extensions.js';
// Loads the declaration merging that adds the scopes of Latitude's features to the type `Scope`.
export type {} from './appointments/appointments.extension.js';
export type {} from './events/events.extension.js';
export type {} from './leads/leads.extension.js';
export type {} from './tasks/tasks.extension.js';
export type {} from './webhooks/webhooks.extension.js';

// The application
export { run } from './server/run.js';
export { defineConfig, type LatitudeConfig } from './extension/config.js';
export {
  defineExtension,
  type Extension,
  type ExtensionManifest,
  type ExtensionProvider,
} from './extension/extension.js';
export type { Action, AddCommands, Progress, Run } from './extension/command.js';
export * as commandOptions from './extension/command-options.js';
export { InjectSetting, settingToken } from './config/config.module.js';
export { type Environment, type Setting, setting, SettingError } from './config/setting.js';
export { Settings } from './config/settings.js';

// Routes
export { AnyKey, Public, RawRoute, RequireScope } from './auth/access.js';
export {
  Webhook,
  type WebhookDelivery,
  WebhookVerifier,
} from './http/webhooks/webhook.decorator.js';
export type { Scope } from './auth/scopes.js';
export { Caller } from './http/request/api-request.js';
export { Id } from './http/request/id.decorator.js';
export { ApiRoute, type ApiRouteOptions, ApiTag } from './http/openapi/api-route.decorator.js';
export type { Actor, KeyLimits } from './tenancy/actor.js';
export { RateLimitPolicy } from './rate-limit/rate-limit-policy.js';
export { TokenAuthenticator, type TokenIdentity } from './auth/token-authenticator.js';

// Fields of DTOs
export {
  DateTime,
  Email,
  Flag,
  Integer,
  JsonObject,
  OneOf,
  Phone,
  Tags,
  Text,
  Uuid,
} from './fields/kinds/kinds.js';
export { Decimal, type DecimalOptions } from './fields/kinds/decimal.js';
export { Nested, NestedList } from './fields/nested.js';
export { EnumArray } from './fields/kinds/output-kinds.js';
export { CreatedAt, OrganizationId, UpdatedAt } from './fields/kinds/record-fields.js';
export { PickOf, type RecordFields, RecordOf, UpdateOf } from './fields/field.js';
export { IdDto } from './fields/id.dto.js';
export { DeletedDto } from './fields/deleted.dto.js';
export { changedFields, type Complete, nullsForMissing } from './fields/changes.js';

// Errors
export { ApiError, type ApiErrorOptions, validationError } from './errors/api-error.js';
export type { CatalogueEntry, ErrorCode } from './errors/error-catalogue.js';
export type { FieldProblem } from './errors/field-problem.js';
export { orNotFound } from './errors/or-not-found.js';

// Lists
export { ListQuery, SortBy } from './listing/list-query.js';
export { Conditions } from './listing/conditions.js';
export { type ListSource, RecordList } from './listing/record-list.js';
export type { Order } from './listing/order.js';
export { Page, type PageMeta } from './listing/page.js';

// Tables and SQL
export {
  createTenantTable,
  dropTenantTable,
  type RecordReference,
  tenantTable,
  type TenantTable,
  type TenantTableOptions,
} from './database/records/tenant-table.js';
export { dropCounts, keepCounts } from './database/records/count-triggers.js';
export { type CountedTable, repairCounts } from './database/records/record-counts.js';
export type { ExistingIdsSql, RequiredReferences, Row } from './database/records/record-inserts.js';
export { TenantRepository } from './database/records/tenant-repository.js';
export type { DirectChange, Revision } from './database/records/record-updates.js';
export type { Statement, Tenant, TenantTransaction } from './database/gateway/tenant.js';
export { TenantDatabase } from './database/gateway/tenant-database.js';
export { UniqueViolation } from './database/connection/driver-error.js';

// Jobs
export { defineJob, type JobDefinition, type JobOptions, type JobRun } from './jobs/job.js';
export {
  Job,
  JobHandler,
  type OrganizationJobOptions,
  type ScheduledJobOptions,
} from './jobs/job.decorator.js';
export { JobsService, type SendOptions } from './jobs/jobs.service.js';
export type { Duration } from './config/duration.js';

// Events
export {
  type EventBatch,
  OnDurableEvent,
  type DurableEventOptions,
} from './events/event-handler.decorator.js';
export type { RecordedEvent } from './events/recorded-event.js';
export { EventDto, EventListQuery } from './events/event.dto.js';
export { EventsModule } from './events/events.module.js';
export { EventsService } from './events/events.service.js';

// Agents
export { Tool, type ToolOptions } from './mcp/tools/tool.decorator.js';
export { Resource, type ResourceKind } from './mcp/resources/resource.decorator.js';
export { Prompt, type PromptOptions, type PromptPart } from './mcp/prompts/prompt.decorator.js';
export {
  Completion,
  type CompletionDeclaration,
  type CompletionMatches,
} from './mcp/prompts/completion.decorator.js';
export { LabelledId } from './mcp/prompts/labelled-id.js';

// Health and metrics
export { HealthIndicator, type HealthResult } from './http/health/health-indicator.js';
export { MetricsRegistry } from './http/metrics/metrics-registry.js';

// Organizations and keys
export { AuthModule } from './auth/auth.module.js';
export { type IssuedKey, KeysService, type NewKey } from './auth/keys.service.js';

// The features of Latitude
export { LeadsModule } from './leads/leads.module.js';
export { LeadsService } from './leads/leads.service.js';
export { customFieldsSchema, CustomFieldsSchema } from './leads/custom-fields-schema.js';
export { LeadComplianceService } from './leads/compliance/lead-compliance.service.js';
export { ComplianceRule, DoNotCallRule, OptOutRule } from './leads/compliance/compliance-rule.js';
export { existingLeadsSql, leadNotFound } from './leads/lead-exists.js';
export { DefaultLeadScorer, LeadScorer, type ScorableLead } from './leads/lead-scorer.js';
export { CreateLeadDto, LeadDto, LeadListQuery, UpdateLeadDto } from './leads/lead.dto.js';
export { AppointmentsModule } from './appointments/appointments.module.js';
export { AppointmentsService } from './appointments/appointments.service.js';
export {
  AppointmentDto,
  AppointmentListQuery,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from './appointments/appointment.dto.js';
export { TasksModule } from './tasks/tasks.module.js';
export { TasksService } from './tasks/tasks.service.js';
export { CreateTaskDto, TaskDto, TaskListQuery, UpdateTaskDto } from './tasks/task.dto.js';
