import { Grants, Keys, Organizations } from './administration.js';
import { AuditLog } from './audit.js';
import { BookableResources, Holds } from './booking.js';
import { CustomFields } from './custom-fields.js';
import { Events } from './events.js';
import { jsonOf } from './json.js';
import { Leads } from './leads.js';
import { CancellableResource, RestorableResource } from './resource.js';
import { Transport } from './transport.js';
import { Webhooks } from './webhooks.js';
import type {
  Appointment,
  AppointmentBatchItem,
  AppointmentCountQuery,
  AppointmentCreate,
  AppointmentQuery,
  AppointmentUpdate,
  Availability,
  AvailabilityQuery,
  CallOptions,
  CancelledAppointment,
  ClientOptions,
  Deleted,
  GetOptions,
  Me,
  OwnOrganization,
  OwnOrganizationUpdate,
  Task,
  TaskBatchItem,
  TaskCountQuery,
  TaskCreate,
  TaskQuery,
  TaskUpdate,
  WithLead,
} from './types.js';

interface AppointmentTypes {
  Record: Appointment & WithLead;
  Item: Appointment & WithLead;
  Create: AppointmentCreate;
  Update: AppointmentUpdate;
  BatchItem: AppointmentBatchItem;
  Query: AppointmentQuery;
  CountQuery: AppointmentCountQuery;
  GetOptions: GetOptions;
  Removed: CancelledAppointment;
}

interface TaskTypes {
  Record: Task & WithLead;
  Item: Task & WithLead;
  Create: TaskCreate;
  Update: TaskUpdate;
  BatchItem: TaskBatchItem;
  Query: TaskQuery;
  CountQuery: TaskCountQuery;
  GetOptions: GetOptions;
  Removed: Deleted;
}

const LEAD_EVENTS = 'lead.created,lead.updated,lead.deleted';
const APPOINTMENT_EVENTS = 'appointment.created,appointment.updated,appointment.cancelled';
const RESOURCE_EVENTS = 'resource.created,resource.updated,resource.deleted';
const TASK_EVENTS = 'task.created,task.updated,task.completed,task.deleted';

/**
 * A client of the API. Calls with transient failures are retried with exponential backoff and jitter,
 * by default up to 3 attempts. A retried creation is carried out once.
 */
export class LatitudeClient {
  private readonly transport = new Transport(this.options);
  readonly leads = new Leads(this.transport, '/api/v1/leads', LEAD_EVENTS);
  readonly appointments = new CancellableResource<AppointmentTypes>(
    this.transport,
    '/api/v1/appointments',
    APPOINTMENT_EVENTS,
  );
  readonly tasks = new RestorableResource<TaskTypes>(this.transport, '/api/v1/tasks', TASK_EVENTS);
  /** The people, crews and rooms whose time appointments take. */
  readonly resources = new BookableResources(this.transport, '/api/v1/resources', RESOURCE_EVENTS);
  readonly holds = new Holds(this.transport, '/api/v1/holds');
  /** The definitions of custom fields of leads. Changes need `fields:write`. */
  readonly customFields = new CustomFields(this.transport, '/api/v1/custom-fields');
  readonly events = new Events(this.transport);
  /** Who has changed what the organization depends on. */
  readonly audit = new AuditLog(this.transport);
  readonly webhooks = new Webhooks(this.transport, '/api/v1/webhooks');
  readonly keys = new Keys(this.transport, '/api/v1/keys');
  readonly grants = new Grants(this.transport, '/api/v1/grants');
  /** The organizations of an operator. */
  readonly organizations = new Organizations(this.transport, '/api/v1/organizations');

  /** @throws TypeError that names the invalid option */
  constructor(private readonly options: ClientOptions) {}

  /** The organization, scopes, expiry and limits of the key. */
  me(options?: CallOptions): Promise<Me> {
    return this.transport.one({ method: 'GET', path: '/api/v1/me' }, options);
  }

  /** The free times of resources. */
  async availability(query: AvailabilityQuery, options?: CallOptions): Promise<Availability> {
    const resources = [query.resource_id].flat().join(',');
    const call = {
      method: 'GET',
      path: '/api/v1/availability',
      query: { ...query, resource_id: resources },
    } as const;
    return this.transport.send(call, options);
  }

  /** The organization of the key, with the numbers of its records. */
  organization(options?: CallOptions): Promise<OwnOrganization> {
    return this.transport.one({ method: 'GET', path: '/api/v1/organization' }, options);
  }

  /** Changes settings of the organization. The key needs `organization:write`. */
  async updateOrganization(
    fields: OwnOrganizationUpdate,
    options?: CallOptions,
  ): Promise<OwnOrganization> {
    const body = jsonOf('fields', fields);
    return this.transport.one({ method: 'PUT', path: '/api/v1/organization', body }, options);
  }
}
