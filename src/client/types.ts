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

export type Deleted = Schemas['Deleted'];
export type Me = Schemas['Me'];
export type PageMeta = Schemas['PageMeta'];

/** One page of a list. */
export interface Page<Item> {
  data: Item[];
  meta: PageMeta;
}

/** Every code that the API answers. Later versions may add some. */
export type ErrorCode = Schemas['Error']['error']['code'];
/** A field that was refused, and why. */
export type ErrorDetail = NonNullable<Schemas['Error']['error']['details']>[number];

/** How a client reaches the API. */
export interface ClientOptions {
  /** Address of the server, such as `https://crm.example.com`. */
  readonly baseUrl: string;
  /** API key, which begins with `lat_`. */
  readonly apiKey: string;
  /** Used in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Attempts of a call, the first one included. Default 3. */
  readonly maxAttempts?: number;
  /** Milliseconds after which an attempt is given up. Default 10,000. */
  readonly timeoutMs?: number;
  /** Aborts every call of the client. */
  readonly signal?: AbortSignal;
}

/** What one call may set for itself. */
export interface CallOptions {
  /** Aborts this call, at once. */
  readonly signal?: AbortSignal;
  /** In place of the client's `maxAttempts`. */
  readonly maxAttempts?: number;
  /** In place of the client's `timeoutMs`. */
  readonly timeoutMs?: number;
}

export interface CreateOptions extends CallOptions {
  /**
   * Names the creation, so that the same call of another process is not carried out twice within 24
   * hours. By default each call has a random one, which its attempts share.
   */
  readonly idempotencyKey?: string;
}

export interface WriteOptions extends CallOptions {
  /**
   * Carries out the write only while the record has this entity tag. `etagOf(record)` is the tag of a
   * record that this client received.
   */
  readonly ifMatch?: string;
}
