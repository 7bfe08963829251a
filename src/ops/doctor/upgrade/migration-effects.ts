/** What a migration does with the rows of one table. */
export interface RowEffect {
  /** Seconds for 100,000 rows. */
  readonly seconds: number;
  /** Bytes by which a row makes the database grow. */
  readonly bytes: number;
}

export interface MigrationEffect {
  /** What it does, as a sentence without a subject. */
  readonly does: string;
  /** The tables whose rows it reads or writes. Without rows, a migration takes a fraction of a second. */
  readonly rows?: Readonly<Record<string, RowEffect>>;
}

/** The name of the last migration of each release from which this version upgrades, oldest first. */
export const RELEASES = {
  '0.3.0': 'McpSessionEnds1766016000000',
  '0.4.0': 'Confirmations1767000000600',
} as const;

/** The oldest release whose instances may go on while this version runs. */
export const OLDEST_BESIDE = '0.4.0';

/**
 * What each migration does, by its name. `bench/migrations.mjs` has measured the figures, on two busy cores.
 * The estimates of `latitude doctor --upgrade` are made of them.
 */
export const MIGRATION_EFFECTS: Readonly<Record<string, MigrationEffect>> = {
  EntityManagerWrites1766102400000: { does: 'adds triggers that refuse writes past the services' },
  ExternalIds1766275200000: { does: 'adds a column to leads' },
  UniqueExternalIds1766275200001: {
    does: 'builds the unique index of external ids of leads',
    rows: { leads: { seconds: 0.1, bytes: 0 } },
  },
  OAuth1766448000000: { does: 'creates the tables of sign-in' },
  KeysOverRest1766534400000: { does: 'creates the tables of operators, and adds columns to keys' },
  TagsFolded1766620800000: { does: 'adds a column and a trigger for tags of leads' },
  FillTagsFolded1766620800001: {
    does: 'fills the folded tags of leads that have tags, in batches',
    rows: { leads: { seconds: 80, bytes: 70 } },
  },
  TagsFoldedIndex1766620800002: {
    does: 'builds the index of the tags of leads',
    rows: { leads: { seconds: 2, bytes: 14 } },
  },
  CountsOfFilters1766620800003: { does: 'lets triggers count records by more columns' },
  CountByFilters1766620800004: {
    does: 'counts the records by these columns',
    rows: {
      leads: { seconds: 0.1, bytes: 0 },
      appointments: { seconds: 0.1, bytes: 0 },
      tasks: { seconds: 0.1, bytes: 0 },
    },
  },
  IndexesOfFilters1766620800005: {
    does: 'builds indexes for filters and sorts of lists',
    rows: {
      leads: { seconds: 1, bytes: 70 },
      appointments: { seconds: 0.5, bytes: 130 },
      tasks: { seconds: 2, bytes: 130 },
    },
  },
  LeadImports1766707200000: { does: 'creates the tables of imports' },
  BulkDeliveries1766707200001: { does: 'adds a column to deliveries of webhooks' },
  NextDeliveries1766707200002: {
    does: 'builds the index of the next deliveries of webhooks',
    rows: { webhook_deliveries: { seconds: 0.3, bytes: 80 } },
  },
  MergedLeads1766793600000: { does: 'adds a column to leads' },
  MergedLeadsIndex1766793600001: {
    does: 'builds the index of merged leads',
    rows: { leads: { seconds: 0.2, bytes: 0 } },
  },
  Erasures1766793600002: { does: 'creates the table of erasures' },
  CheaperTriggers1766880000000: { does: 'replaces trigger functions with cheaper ones' },
  TimeZoneOfOrganizations1767000000300: { does: 'adds a column to organizations' },
  LifetimesOfKeys1767000000301: { does: 'adds a column to keys' },
  ScopesOfResponses1767000000302: { does: 'adds a column to stored responses' },
  SuspendedOrganizations1767000000303: { does: 'adds a column to organizations' },
  LeadImportResults1767000000400: { does: 'creates the table of results of imports' },
  OrganizationDefaults1767000000500: { does: 'creates the table of defaults of organizations' },
  Confirmations1767000000600: {
    does: 'creates a table of secrets, and adds columns to keys and grants',
  },
  OrganizationsOfGrants1767100000100: { does: 'adds columns to grants and keys' },
  IndexesOfKeysAndGrants1767100000101: {
    does: 'fills the organizations of grants, and builds indexes of keys and grants',
    rows: { api_keys: { seconds: 0.4, bytes: 140 } },
  },
  KeysUnderRowLevelSecurity1767100000102: {
    does: 'puts organizations, keys and grants under row-level security',
  },
  ForeignKeysOfGrants1767100000103: { does: 'validates the foreign keys of grants and sessions' },
  FoldText1767200000000: { does: 'creates the function that folds texts' },
  WebhooksThatChoose1767200000100: { does: 'adds columns to webhooks' },
  CustomFields1767200000200: { does: 'creates the tables of custom fields' },
  LeadForms1767200000400: { does: 'creates the table of forms by which duplicates are found' },
  Resources1767300000000: {
    does: 'creates the table of resources, and adds a column to appointments',
  },
  BusyTimes1767300000001: { does: 'creates the table of booked times' },
  AppointmentsByResource1767300000002: {
    does: 'builds the index of appointments by resource',
    rows: { appointments: { seconds: 0.1, bytes: 0 } },
  },
  Calendars1767300000200: { does: 'creates the table of calendars' },
  ScheduledEvents1767300000300: { does: 'creates the table of scheduled events' },
  ScheduleEventsOfTasks1767300000301: {
    does: 'schedules the events of tasks that are due in the future',
    rows: { tasks: { seconds: 4, bytes: 170 } },
  },
  Reminders1767300000302: { does: 'adds columns and triggers for reminders' },
  LimitsOfKeys1767400000300: { does: 'adds columns to keys' },
  AuditEntries1767500000000: { does: 'creates the table of the audit log' },
  Traceparents1767500002000: { does: 'adds a column for traces to events, jobs and deliveries' },
  OrganizationsWithDuplicates1767500005000: { does: 'adds a column to organizations' },
  UpdateTimes1767700000000: { does: 'creates the tables of the times of updates' },
  CopyUpdateTimes1767700000001: {
    does: 'copies the times of updates of the records, in batches',
    rows: {
      leads: { seconds: 8, bytes: 220 },
      appointments: { seconds: 8, bytes: 220 },
      tasks: { seconds: 8, bytes: 220 },
    },
  },
  HotUpdates1767700000002: { does: 'leaves room on the pages of records' },
  PartialIndexes1767700000003: {
    does: 'builds indexes again without records that have no value',
    rows: { leads: { seconds: 1, bytes: 0 }, tasks: { seconds: 0.5, bytes: 0 } },
  },
};
