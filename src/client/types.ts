import type { AppointmentFilter, LeadFilter, TaskFilter } from './filters.js';
import type { components, operations } from './openapi.js';

type Schemas = components['schemas'];

/**
 * Optional properties may be given as undefined, also in projects with `exactOptionalPropertyTypes`. The client
 * does not send them.
 */
type Input<T> = {
  [Name in keyof T]: Partial<Pick<T, Name>> extends Pick<T, Name> ? T[Name] | undefined : T[Name];
};
type Query<Operation extends keyof operations> = Input<
  NonNullable<operations[Operation]['parameters']['query']>
>;

/** A query with a filter as an object, which is sent as JSON. */
type Filtered<Operation extends keyof operations, Filter> = {
  [Name in keyof Query<Operation>]: Name extends 'filter'
    ? Filter | undefined
    : Query<Operation>[Name];
};

export type Lead = Schemas['Lead'];
export type LeadListItem = Schemas['LeadListItem'];
export type LeadCreate = Input<Schemas['CreateLead']>;
export type LeadUpdate = Input<Schemas['UpdateLead']>;
export type LeadQuery = Filtered<'leadsList', LeadFilter>;
export type LeadCountQuery = Omit<Filtered<'leadsCount', LeadFilter>, 'by'> & { by: LeadCountBy };
/** What leads are counted by. */
export type LeadCountBy =
  | 'status'
  | 'temperature'
  | 'source'
  | 'tag'
  | 'city'
  | `created_${'day' | 'week' | 'month'}`
  | `custom_fields.${string}`;
export type LeadUpsert = Input<Omit<Schemas['UpsertLead'], 'data'>> & { data: LeadUpdate };
export type LeadMerge = Input<Omit<Schemas['MergeLeadBody'], 'dry_run'>> & {
  dry_run?: false | undefined;
};
export type LeadMergeDryRun = Omit<LeadMerge, 'dry_run'> & { dry_run: true };
export type LeadMergePreview = Schemas['LeadMergePreview'];
/** Leads that are likely the same person. */
export type LeadGroup = Schemas['LeadGroup'];
export type LeadDuplicatesQuery = Query<'leadsListDuplicates'>;

export type LeadExportQuery = Filtered<'leadsExport', LeadFilter>;

/** An import of leads. */
export type LeadImport = Schemas['LeadImport'];
export type LeadImportListQuery = Query<'leadImportsList'>;
export type RejectedLinesQuery = Query<'leadImportsRejected'>;
export type ImportResultsQuery = Query<'leadImportsResults'>;
/** A file that can be sent more than once. */
export type ImportFile = string | Uint8Array<ArrayBuffer> | Blob;

/** A lead after an upsert, and what was done. */
export interface UpsertedLead {
  action: Schemas['UpsertMeta']['action'];
  record: Lead;
}

export type Appointment = Schemas['Appointment'];
export type AppointmentCreate = Input<Schemas['CreateAppointment']>;
export type AppointmentUpdate = Input<Schemas['UpdateAppointment']>;
export type AppointmentQuery = Filtered<'appointmentsList', AppointmentFilter>;
export type AppointmentCountQuery = Filtered<'appointmentsCount', AppointmentFilter>;
export type CancelledAppointment = Schemas['CancelledAppointment'];

/** A person, a crew, a room or anything else whose time appointments take. */
export type BookableResource = Schemas['Resource'];
export type BookableResourceCreate = Input<Schemas['CreateResource']>;
export type BookableResourceUpdate = Input<Schemas['UpdateResource']>;
export type BookableResourceQuery = Query<'resourcesList'>;
/** The time of a resource, kept while a person decides. */
export type Hold = Schemas['Hold'];
export type HoldCreate = Input<Schemas['CreateHold']>;
export type AvailabilityQuery = Omit<Query<'availabilityFind'>, 'resource_id'> & {
  resource_id: string | readonly string[];
};
/** A secret address at which calendar applications read the appointments of a resource. */
export type Calendar = Schemas['Calendar'];
export type CalendarCreate = Input<Schemas['CreateCalendar']>;
/** A calendar with its `url`, which only the first response has. */
export type CalendarWithAddress = Schemas['CalendarWithAddress'];
export type CalendarQuery = Query<'calendarsList'>;

/** The free times of each resource. */
export interface Availability {
  data: Schemas['Availability'][];
  meta: Schemas['AvailabilityMeta'];
}

export type Task = Schemas['Task'];
export type TaskCreate = Input<Schemas['CreateTask']>;
export type TaskUpdate = Input<Schemas['UpdateTask']>;
export type TaskQuery = Filtered<'tasksList', TaskFilter>;
export type TaskCountQuery = Filtered<'tasksCount', TaskFilter>;

/** The numbers of records by the values of a field. */
export interface Counts {
  data: Schemas['ValueCount'][];
  meta: Schemas['CountsMeta'];
}

/** The definition of a custom field. */
export type CustomField = Schemas['CustomField'];
export type CustomFieldCreate = Input<Schemas['CreateCustomField']>;
export type CustomFieldUpdate = Input<Schemas['UpdateCustomField']>;
export type CustomFieldQuery = Query<'customFieldsList'>;

/** What `include` adds to leads of a list. */
export interface LeadRelated {
  next_appointment?: Pick<Appointment, 'id' | 'start_time' | 'end_time' | 'type' | 'status'> | null;
  open_task_count?: number;
}

/** What `include` adds to appointments and tasks. */
export interface WithLead {
  lead?: LeadListItem | null;
}

/** The change of a record. */
export type RecordEvent = Schemas['Event'];
export type EventQuery = Query<'eventsList'>;
export type CursorMeta = Schemas['CursorMeta'];

/** One page of events. */
export type EventsPage = CursorPage<RecordEvent>;

/** The query for the events of one record. */
export type RecordEventQuery = Query<'leadsListEvents'>;

export type Webhook = Schemas['Webhook'];
export type WebhookCreate = Input<Schemas['CreateWebhook']>;
export type WebhookUpdate = Input<Schemas['UpdateWebhook']>;
export type WebhookQuery = Query<'webhooksList'>;
/** A webhook with its secret, which only the first response has. */
export type WebhookWithSecret = Schemas['WebhookWithSecret'];
/** One event for one webhook. */
export type Delivery = Schemas['Delivery'];
export type DeliveryQuery = Query<'webhooksListDeliveries'>;

/** An entry of the audit log. */
export type AuditEntry = Schemas['AuditEntry'];
export type AuditQuery = Query<'auditList'>;
/** One page of entries. */
export type AuditPage = CursorPage<AuditEntry>;

export type ApiKey = Schemas['ApiKey'];
export type ApiKeyCreate = Input<Schemas['CreateKey']>;
/** A key with the key itself, which only the first response has. */
export type IssuedApiKey = Schemas['ApiKeyWithSecret'];
export type KeyQuery = Query<'keysList'>;
export type Grant = Schemas['Grant'];
/** A key or grant that was revoked. */
export type Revoked = Schemas['RevokedKey'];
/** The organization of the key. */
export type OwnOrganization = Schemas['OwnOrganization'];
export type OwnOrganizationUpdate = Input<Schemas['UpdateOwnOrganization']>;
/** An organization that an operator has created. */
export type Organization = Schemas['Organization'];
export type OrganizationCreate = Input<Schemas['CreateOrganization']>;
export type OrganizationUpdate = Input<Schemas['UpdateOrganization']>;
export type FirstKeyCreate = Input<Schemas['FirstKey']>;

export type Deleted = Schemas['Deleted'];
export type PersonalData = Schemas['PersonalData'];
export type ErasedLead = Schemas['ErasedLead'];
export type Me = Schemas['Me'];
export type PageMeta = Schemas['PageMeta'];

/** An item of a batch. */
export type BatchItem<Create, Update> =
  | { action: 'create'; data: Create }
  | { action: 'update'; id: string; data: Update; if_match?: string }
  | { action: 'delete'; id: string; if_match?: string };
export type LeadBatchItem = BatchItem<LeadCreate, LeadUpdate> | ({ action: 'upsert' } & LeadUpsert);
export type AppointmentBatchItem = BatchItem<AppointmentCreate, AppointmentUpdate>;
export type BookableResourceBatchItem = BatchItem<BookableResourceCreate, BookableResourceUpdate>;
export type TaskBatchItem = BatchItem<TaskCreate, TaskUpdate>;

/** The results of a batch, in the order of its items. */
export interface BatchResponse {
  data: Schemas['BatchResult'][];
  meta: Schemas['BatchMeta'];
}

/** One page of a list. */
export interface Page<Item> {
  data: Item[];
  meta: PageMeta;
}

/** One page of a list that is read by cursor. */
export interface CursorPage<Item> {
  data: Item[];
  meta: CursorMeta;
}

/** The parameters of a list that is read by cursor. */
export interface CursorQuery {
  /** `meta.next` of the previous page. */
  after?: string | undefined;
  limit?: number | undefined;
}

/** What an item of a list of deleted records has in addition. */
export type WithDeletedAt = Pick<Schemas['DeletedLead'], 'deleted_at'>;

/** Where a sync continues. It is plain JSON, to be stored together with the changes that were applied. */
export interface SyncState {
  /** The event after which the feed continues. */
  events: string;
  /** The cursor of the list, until all of it is read. */
  list?: string;
}

/** Changes of records, which a copy of them applies in this order. */
export interface SyncPage<Item> {
  /** Whole records that were created or changed, or that the list has. */
  changed: Item[];
  /** Ids of records that were deleted. */
  deleted: string[];
  state: SyncState;
}

/** Error codes of the API. Later versions may add codes. */
export type ErrorCode = Schemas['ErrorCode'];
/** An invalid field, with the reason. */
export type ErrorDetail = NonNullable<Schemas['Error']['error']['details']>[number];

/** Options of a client. */
export interface ClientOptions {
  /** Address of the server, such as `https://crm.example.com`, or in a page a relative one, such as `/`. */
  readonly baseUrl: string;
  /** API key, which begins with `lat_`. */
  readonly apiKey: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Maximum attempts of a call, including the first one. Default 3. */
  readonly maxAttempts?: number | undefined;
  /** Timeout of an attempt in milliseconds, in addition to the `wait` of a query for events. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Aborts every call of the client. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts this call. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides `maxAttempts` of the client. */
  readonly maxAttempts?: number | undefined;
  /** Overrides `timeoutMs` of the client. */
  readonly timeoutMs?: number | undefined;
}

export interface GetOptions extends CallOptions {
  /** Adds fields about related records. The record then has no entity tag. */
  readonly include?: 'lead' | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * Identifies the creation. Calls with the same key, also of other processes, are carried out once
   * within 24 hours. Default: a random key for each call, which its attempts share.
   */
  readonly idempotencyKey?: string | undefined;
}

/** How a file is imported. */
export interface LeadImportOptions extends CreateOptions {
  /** Default: `csv`. */
  readonly format?: 'csv' | 'ndjson' | undefined;
  /** The parameters of the import. */
  readonly query?: Query<'leadImportsCreate'> | undefined;
}

export interface WaitOptions extends CallOptions {
  /** Receives the import about once a second. */
  readonly onProgress?: ((progress: LeadImport) => void) | undefined;
}

export interface BatchOptions extends CreateOptions {
  /** Whether one item that fails undoes all. Default: false. */
  readonly atomic?: boolean | undefined;
  /** Whether the call rejects if an item failed. Default: true. */
  readonly throwOnFailed?: boolean | undefined;
}

export interface WriteOptions extends CallOptions {
  /**
   * Writes only if the record has this entity tag. `etagOf(record)` is the tag of a record from `get`, `create`
   * or `update`. Any other object has none: the call rejects if the property is present and undefined.
   */
  readonly ifMatch?: string | undefined;
}
