import { Grants, Keys, Organizations } from './administration.js';
import { Events } from './events.js';
import { Leads } from './leads.js';
import { CancellableResource, DeletableResource } from './resource.js';
import { Transport } from './transport.js';
import type {
  Appointment,
  AppointmentBatchItem,
  AppointmentCreate,
  AppointmentQuery,
  AppointmentUpdate,
  CallOptions,
  CancelledAppointment,
  ClientOptions,
  Deleted,
  Me,
  OwnOrganization,
  Task,
  TaskBatchItem,
  TaskCreate,
  TaskQuery,
  TaskUpdate,
} from './types.js';

interface AppointmentTypes {
  Record: Appointment;
  Item: Appointment;
  Create: AppointmentCreate;
  Update: AppointmentUpdate;
  BatchItem: AppointmentBatchItem;
  Query: AppointmentQuery;
  Removed: CancelledAppointment;
}

interface TaskTypes {
  Record: Task;
  Item: Task;
  Create: TaskCreate;
  Update: TaskUpdate;
  BatchItem: TaskBatchItem;
  Query: TaskQuery;
  Removed: Deleted;
}

/**
 * A client of the API. Calls with transient failures are retried with exponential backoff and jitter,
 * by default up to 3 attempts. A retried creation is carried out once.
 */
export class LatitudeClient {
  readonly leads: Leads;
  readonly appointments: CancellableResource<AppointmentTypes>;
  readonly tasks: DeletableResource<TaskTypes>;
  readonly events: Events;
  readonly keys: Keys;
  readonly grants: Grants;
  /** The organizations of an operator. */
  readonly organizations: Organizations;
  private readonly transport: Transport;

  /** @throws TypeError that names the invalid option */
  constructor(options: ClientOptions) {
    this.transport = new Transport(options);
    const { transport } = this;
    const lead = 'lead.created,lead.updated,lead.deleted';
    const appointment = 'appointment.created,appointment.updated,appointment.cancelled';
    const task = 'task.created,task.updated,task.completed,task.deleted';
    this.leads = new Leads(transport, '/api/v1/leads', lead);
    this.appointments = new CancellableResource(transport, '/api/v1/appointments', appointment);
    this.tasks = new DeletableResource(transport, '/api/v1/tasks', task);
    this.events = new Events(transport);
    this.keys = new Keys(transport, '/api/v1/keys');
    this.grants = new Grants(transport, '/api/v1/grants');
    this.organizations = new Organizations(transport, '/api/v1/organizations');
  }

  /** The organization, scopes, expiry and limits of the key. */
  me(options?: CallOptions): Promise<Me> {
    return this.transport.one({ method: 'GET', path: '/api/v1/me' }, options);
  }

  /** The organization of the key, with the numbers of its records. */
  organization(options?: CallOptions): Promise<OwnOrganization> {
    return this.transport.one({ method: 'GET', path: '/api/v1/organization' }, options);
  }
}
