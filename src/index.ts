/** The exports for extensions of a team. Other files of the package are internal. */

// Declaration merging reaches an interface only through `export *`.
export * from './platform/config/registered-extensions.js';
// Loads the declaration merging that adds the scopes and error codes of Latitude's features.
export type {} from './app.module.js';

// The application
export { run } from './ops/server/run.js';
export { defineConfig, type LatitudeConfig } from './platform/extension/config.js';
export {
  defineExtension,
  type Extension,
  type ExtensionManifest,
  type ExtensionProvider,
} from './platform/extension/extension.js';
export type { Action, AddCommands, Progress, Run } from './platform/extension/command.js';
export * as commandOptions from './platform/extension/command-options.js';
export { InjectSetting, settingToken } from './platform/config/config.module.js';
export {
  type Environment,
  type Setting,
  setting,
  SettingError,
} from './platform/config/setting.js';
export { Settings } from './platform/config/settings.js';

// Routes
export { AnyKey, Public, RawRoute, RequireScope } from './platform/http/routes/access.js';
export { Webhook } from './platform/http/routes/webhook.decorator.js';
export { type WebhookDelivery, WebhookVerifier } from './platform/http/routes/webhook-verifier.js';
export type { Scope } from './platform/access/scopes.js';
export { CurrentCall } from './platform/http/request/api-request.js';
export { Id } from './platform/http/request/id.decorator.js';
export { ApiRoute, ApiTag } from './platform/http/routes/api-route.decorator.js';
export type { ApiRouteOptions } from './platform/http/routes/route-declarations.js';
export type {
  Actor,
  Call,
  InTransaction,
  KeyLimits,
  Tenant,
  TenantCall,
} from './platform/data/call.js';
export { RateLimitPolicy } from './platform/access/limits/rate-limit-policy.js';
export { TokenAuthenticator, type TokenIdentity } from './platform/access/token-authenticator.js';

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
} from './platform/fields/kinds/kinds.js';
export { Decimal, type DecimalOptions } from './platform/fields/kinds/decimal.js';
export { Nested, NestedList } from './platform/fields/nested.js';
export { EnumArray } from './platform/fields/kinds/output-kinds.js';
export { CreatedAt, OrganizationId, UpdatedAt } from './platform/fields/kinds/record-fields.js';
export { PickOf, type RecordFields, RecordOf, UpdateOf } from './platform/fields/field.js';
export { IdDto } from './platform/fields/id.dto.js';
export { DeletedDto } from './platform/fields/deleted.dto.js';
export { changedFields, type Complete, nullsForMissing } from './platform/fields/changes.js';

// Errors
export { ApiError, type ApiErrorOptions, validationError } from './platform/errors/api-error.js';
export type { CatalogueEntry, ErrorCode } from './platform/errors/error-catalogue.js';
export type { FieldProblem, ProblemDetail } from './platform/errors/field-problem.js';
export { orNotFound } from './platform/errors/or-not-found.js';

// Lists
export { ListQuery, SortBy } from './platform/data/lists/list-query.js';
export { Conditions } from './platform/data/lists/conditions.js';
export { type ListSource, RecordList } from './platform/data/lists/record-list.js';
export type { Order } from './platform/data/lists/order.js';
export { Page, type PageMeta } from './platform/data/lists/page.js';

// Tables and SQL
export {
  type RecordReference,
  type TableEvents,
  TenantEntity,
  type TenantEntityOptions,
  type TenantTable,
} from './platform/data/records/tenant-entity.js';
export { createTenantTable, dropTenantTable } from './platform/data/records/tenant-table.js';
export { dropCounts, keepCounts } from './platform/data/records/count-triggers.js';
export { type CountedTable, repairCounts } from './platform/data/records/record-counts.js';
export type {
  ExistingIdsSql,
  RequiredReferences,
} from './platform/data/records/record-statements.js';
export { TenantRepository } from './platform/data/records/tenant-repository.js';
export { RecordUpdates, type Revision } from './platform/data/records/record-updates.js';
export type { DirectChange } from './platform/data/records/record-updates.js';
export type { Row } from './platform/data/records/record-statements.js';
export type { ComputedFields } from './platform/data/records/stored-record.js';
export type { Statement } from './platform/data/gateway/statement.js';
export type { Transaction } from './platform/data/gateway/transaction.js';
export { TenantDatabase } from './platform/data/gateway/tenant-database.js';
export { UniqueViolation } from './platform/data/connection/driver-error.js';

// Jobs
export {
  defineJob,
  type JobDefinition,
  type JobOptions,
  type JobRun,
} from './platform/jobs/job.js';
export {
  Job,
  JobHandler,
  type OrganizationJobOptions,
  type ScheduledJobOptions,
} from './platform/jobs/job.decorator.js';
export { JobsService, type SendOptions } from './platform/jobs/jobs.service.js';
export type { Duration } from './platform/config/duration.js';

// Events
export {
  type EventBatch,
  OnDurableEvent,
  type DurableEventOptions,
} from './modules/events/event-handler.decorator.js';
export type { RecordedEvent } from './modules/events/recorded-event.js';
export { EventDto, EventListQuery } from './modules/events/event.dto.js';
export { EventsModule } from './modules/events/events.module.js';
export { EventsService } from './modules/events/events.service.js';

// Agents
export { Previewed } from './modules/mcp/tools/previewed.js';
export { Tool, type ToolOptions } from './modules/mcp/tools/tool.decorator.js';
export { Resource, type ResourceKind } from './modules/mcp/resources/resource.decorator.js';
export {
  Prompt,
  type PromptOptions,
  type PromptPart,
} from './modules/mcp/prompts/prompt.decorator.js';
export {
  Completion,
  type CompletionDeclaration,
  type CompletionMatches,
} from './modules/mcp/prompts/completion.decorator.js';
export { LabelledId } from './modules/mcp/prompts/labelled-id.js';

// Health and metrics
export { HealthIndicator, type HealthResult } from './platform/http/health/health-indicator.js';
export { MetricsRegistry } from './platform/metrics-registry.js';

// Organizations and keys
export { AuthModule } from './modules/auth/auth.module.js';
export { type IssuedKey, KeysService, type NewKey } from './modules/auth/keys.service.js';

// The features of Latitude
export { LeadsModule } from './modules/leads/leads.module.js';
export { LeadsService } from './modules/leads/leads.service.js';
export {
  customFieldsSchema,
  CustomFieldsSchema,
} from './modules/leads/lead-custom-fields.service.js';
export { LeadComplianceService } from './modules/leads/lead-compliance.service.js';
export {
  ComplianceRule,
  DoNotCallRule,
  OptOutRule,
} from './modules/leads/lead-compliance.service.js';
export { existingLeadsSql, leadNotFound } from './modules/leads/lead-exists.js';
export { DefaultLeadScorer, LeadScorer, type ScorableLead } from './modules/leads/lead-scorer.js';
export { CreateLeadDto, LeadDto, LeadListQuery, UpdateLeadDto } from './modules/leads/lead.dto.js';
export { Lead } from './modules/leads/lead.entity.js';
export { AppointmentsModule } from './modules/appointments/appointments.module.js';
export { Appointment } from './modules/appointments/appointment.entity.js';
export { AppointmentsService } from './modules/appointments/appointments.service.js';
export {
  AppointmentDto,
  AppointmentListQuery,
  CreateAppointmentDto,
  UpdateAppointmentDto,
} from './modules/appointments/appointment.dto.js';
export { TasksModule } from './modules/tasks/tasks.module.js';
export { Task } from './modules/tasks/task.entity.js';
export { TasksService } from './modules/tasks/tasks.service.js';
export { CreateTaskDto, TaskDto, TaskListQuery, UpdateTaskDto } from './modules/tasks/task.dto.js';
