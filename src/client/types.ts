import type { components, operations } from './openapi.js';

type Schemas = components['schemas'];
type Query<Operation extends keyof operations> = NonNullable<
  operations[Operation]['parameters']['query']
>;

export type Lead = Schemas['Lead'];
export type LeadListItem = Schemas['LeadListItem'];
export type LeadCreate = Schemas['CreateLead'];
export type LeadUpdate = Schemas['UpdateLead'];
export type LeadQuery = Query<'leadsList'>;

export type Appointment = Schemas['Appointment'];
export type AppointmentCreate = Schemas['CreateAppointment'];
export type AppointmentUpdate = Schemas['UpdateAppointment'];
export type AppointmentQuery = Query<'appointmentsList'>;
export type CancelledAppointment = Schemas['CancelledAppointment'];

export type Task = Schemas['Task'];
export type TaskCreate = Schemas['CreateTask'];
export type TaskUpdate = Schemas['UpdateTask'];
export type TaskQuery = Query<'tasksList'>;

/** The change of a record. */
export type RecordEvent = Schemas['Event'];
export type EventQuery = Query<'eventsList'>;
export type CursorMeta = Schemas['CursorMeta'];

/** One page of events. */
export interface EventsPage {
  data: RecordEvent[];
  meta: CursorMeta;
}

export type Deleted = Schemas['Deleted'];
export type Me = Schemas['Me'];
export type PageMeta = Schemas['PageMeta'];

/** One page of a list. */
export interface Page<Item> {
  data: Item[];
  meta: PageMeta;
}

/** Error codes of the API. Later versions may add codes. */
export type ErrorCode = Schemas['ErrorCode'];
/** An invalid field, with the reason. */
export type ErrorDetail = NonNullable<Schemas['Error']['error']['details']>[number];

/** Options of a client. */
export interface ClientOptions {
  /** Address of the server, such as `https://crm.example.com`. */
  readonly baseUrl: string;
  /** API key, which begins with `lat_`. */
  readonly apiKey: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Maximum attempts of a call, including the first one. Default 3. */
  readonly maxAttempts?: number;
  /** Timeout of an attempt in milliseconds, in addition to the `wait` of a query for events. Default 10,000. */
  readonly timeoutMs?: number;
  /** Aborts every call of the client. */
  readonly signal?: AbortSignal;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts this call. */
  readonly signal?: AbortSignal;
  /** Overrides `maxAttempts` of the client. */
  readonly maxAttempts?: number;
  /** Overrides `timeoutMs` of the client. */
  readonly timeoutMs?: number;
}

export interface CreateOptions extends CallOptions {
  /**
   * Identifies the creation. Calls with the same key, also of other processes, are carried out once
   * within 24 hours. Default: a random key for each call, which its attempts share.
   */
  readonly idempotencyKey?: string;
}

export interface WriteOptions extends CallOptions {
  /**
   * Writes only if the record has this entity tag. `etagOf(record)` is the tag of a record from `get`, `create`
   * or `update`. If it is given as undefined, the call is refused.
   */
  readonly ifMatch?: string;
}
