import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { appointmentsExtension } from './modules/appointments/appointments.extension.js';
import { countsExtension } from './modules/counts/counts.extension.js';
import { auditExtension } from './modules/audit/audit.extension.js';
import { authExtension } from './modules/auth/auth.extension.js';
import { TokenAuthenticator } from './platform/access/token-authenticator.js';
import { ConfigModule } from './platform/config/config.module.js';
import type { Settings } from './platform/config/settings.js';
import type { DatabaseTarget } from './platform/data/connection/data-source-options.js';
import { DatabaseModule } from './platform/data/database.module.js';
import { SCHEDULED_EVENTS_OF_RECORDS } from './platform/data/records/scheduled-events.js';
import { TimeBudget } from './platform/data/gateway/policies.js';
import { EVENTS_ABOUT_RECORDS } from './modules/events/events.repository.js';
import { eventsExtension } from './modules/events/events.extension.js';
import { addable, type ExtensionPoint, replaceable } from './platform/extension/extension-point.js';
import { ExtensionPointsModule } from './platform/extension/extension-points.module.js';
import type { Extension } from './platform/extension/extension.js';
import { checkExtensions, extensionMigrationsOf } from './platform/extension/extensions.js';
import { HealthIndicator } from './platform/http/health/health-indicator.js';
import { RESPONSES_ABOUT_RECORDS } from './platform/http/response/idempotency.repository.js';
import { MetricsRegistryModule } from './platform/metrics-registry.js';
import { JOBS_ABOUT_RECORDS } from './platform/jobs/job-queue.repository.js';
import { JobsModule } from './platform/jobs/jobs.module.js';
import {
  ComplianceRule,
  DoNotCallRule,
  OptOutRule,
} from './modules/leads/lead-compliance.service.js';
import { AnyCustomFields, CustomFieldsSchema } from './modules/leads/lead-custom-fields.service.js';
import { FORMS_ABOUT_RECORDS } from './modules/leads/duplicates/lead-forms.repository.js';
import { DefaultLeadScorer, LeadScorer } from './modules/leads/lead-scorer.js';
import { grantsExtension } from './modules/oauth/grants.extension.js';
import { customFieldsExtension } from './modules/custom-fields/custom-fields.extension.js';
import type { mcpExtension } from './modules/mcp/mcp.extension.js';
import { leadsExtension } from './modules/leads/leads.extension.js';
import { personalDataExtension } from './modules/personal-data/personal-data.extension.js';
import { promptsExtension } from './modules/prompts/prompts.extension.js';
import {
  RateLimitPolicy,
  SettingsRateLimitPolicy,
} from './platform/access/limits/rate-limit-policy.js';
import { resourcesExtension } from './modules/resources/resources.extension.js';
import { tasksExtension } from './modules/tasks/tasks.extension.js';
import { webhooksExtension } from './modules/webhooks/webhooks.extension.js';

/** The features that the server and the command line have, declared as a team declares its extensions. */
export const FEATURES = [
  leadsExtension,
  customFieldsExtension,
  appointmentsExtension,
  resourcesExtension,
  tasksExtension,
  eventsExtension,
  webhooksExtension,
  personalDataExtension,
  authExtension,
  grantsExtension,
  promptsExtension,
  countsExtension,
  auditExtension,
];

declare module './platform/config/registered-extensions.js' {
  interface RegisteredExtensions {
    features: (typeof FEATURES)[number];
    mcp: typeof mcpExtension;
  }
}

/** In the order of removal: the publisher moves events from the outbox to the feed. */
const ROWS_ABOUT_RECORDS = [
  RESPONSES_ABOUT_RECORDS,
  JOBS_ABOUT_RECORDS,
  SCHEDULED_EVENTS_OF_RECORDS,
  FORMS_ABOUT_RECORDS,
  ...EVENTS_ABOUT_RECORDS,
];

/** What extensions replace or add to (docs/guides/replace-and-add.md). */
const EXTENSION_POINTS: readonly ExtensionPoint[] = [
  replaceable(LeadScorer, DefaultLeadScorer),
  replaceable(CustomFieldsSchema, AnyCustomFields),
  replaceable(RateLimitPolicy, SettingsRateLimitPolicy),
  addable(ComplianceRule, [OptOutRule, DoNotCallRule]),
  addable(HealthIndicator),
  addable(TokenAuthenticator),
];

@Module({})
class AppModule {}

export interface AppOptions {
  readonly settings: Settings;
  readonly database: DatabaseTarget;
  /** Time budget of database operations. Default: that of a server. */
  readonly timeBudget?: TimeBudget;
  /** Name of the connections in the views of PostgreSQL. */
  readonly applicationName?: string;
  /** Called each time before this instance migrates the database or waits for another instance to do so. */
  readonly beforeMigrating?: () => Promise<void>;
  /** Whether the schema of the database, if it has one, stays as it is. It must be that of this program. */
  readonly keepsSchema?: boolean;
  /** The extensions of a team. */
  readonly extensions?: readonly Extension[];
  /** Modules that belong to no extension. */
  readonly modules?: readonly (Type<unknown> | DynamicModule)[];
  /** Features that only the server has. */
  readonly serverFeatures?: readonly Extension[];
  /** Modules of the platform that only the server has. */
  readonly serverModules?: readonly (Type<unknown> | DynamicModule | Promise<DynamicModule>)[];
}

/**
 * The root module of the server and of the command line, with all features.
 * @throws ExtensionError
 */
export function rootModule({
  extensions = [],
  modules = [],
  serverFeatures = [],
  serverModules = [],
  ...options
}: AppOptions): DynamicModule {
  const features = [...FEATURES, ...serverFeatures];
  checkExtensions(features, extensions);
  const extensionMigrations = extensionMigrationsOf(extensions);
  const entities = [...features, ...extensions].flatMap((extension) => extension.entities);
  return {
    module: AppModule,
    imports: [
      // The guards and the error filter of Latitude come before those of a team's modules.
      ConfigModule.forRoot(options.settings),
      DatabaseModule.forRoot({
        ...options,
        target: options.database,
        timeBudget: options.timeBudget ?? new TimeBudget(),
        extensionMigrations,
        entities,
        rowsAboutRecords: ROWS_ABOUT_RECORDS,
      }),
      JobsModule,
      MetricsRegistryModule,
      ...serverModules,
      ...features.map(({ module }) => module),
      ExtensionPointsModule.of(EXTENSION_POINTS, extensions),
      ...extensions.map(({ module }) => module),
      ...modules,
    ],
  };
}
