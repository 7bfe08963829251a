import { Collection, Endpoint, Resource, segmentOf } from './resource.js';
import type {
  BookableResource,
  BookableResourceBatchItem,
  BookableResourceCreate,
  BookableResourceQuery,
  BookableResourceUpdate,
  Calendar,
  CalendarCreate,
  CalendarQuery,
  CalendarWithAddress,
  CallOptions,
  CreateOptions,
  Deleted,
  Hold,
  HoldCreate,
  WriteOptions,
} from './types.js';

interface BookableResourceTypes {
  Record: BookableResource;
  Item: BookableResource;
  Create: BookableResourceCreate;
  Update: BookableResourceUpdate;
  BatchItem: BookableResourceBatchItem;
  Query: BookableResourceQuery;
  GetOptions: CallOptions;
  Removed: Deleted;
}

/** Resources, whose time appointments take. Changes need `resources:write`. */
export class BookableResources extends Resource<BookableResourceTypes> {
  /** Deletes a resource. Its appointments stay. */
  delete(id: string, options?: WriteOptions): Promise<Deleted> {
    return this.remove(id, options, { id, deleted: true });
  }

  /**
   * The calendars of a resource.
   * @throws TypeError if the id cannot be sent
   */
  calendars(id: string): Calendars {
    return new Calendars(this.transport, `${this.path}${segmentOf(id)}/calendars`);
  }
}

interface CalendarTypes {
  Record: Calendar;
  Item: Calendar;
  Query: CalendarQuery;
  Removed: Deleted;
}

/** The calendars of a resource. */
export class Calendars extends Collection<CalendarTypes> {
  /**
   * Creates a calendar. The response lacks `url` if an earlier attempt has made it: delete it, and create another one.
   */
  async create(fields: CalendarCreate = {}, options?: CreateOptions): Promise<CalendarWithAddress> {
    const call = this.postOf('', fields, options);
    return this.transport.one({ ...call, path: this.path.slice(0, -1) }, options);
  }

  /** Revokes the address. */
  delete(id: string, options?: WriteOptions): Promise<Deleted> {
    return this.remove(id, options, { id, deleted: true });
  }
}

interface HoldTypes {
  Record: Hold;
  Removed: Deleted;
}

/** Holds, which keep the time of a resource while a person decides. */
export class Holds extends Endpoint<HoldTypes> {
  /** Holds a time. All attempts share one `Idempotency-Key`. */
  async create(fields: HoldCreate, options?: CreateOptions): Promise<Hold> {
    return this.transport.one(this.postOf('', fields, options), options);
  }

  /** Frees the time of a hold. */
  delete(id: string, options?: WriteOptions): Promise<Deleted> {
    return this.remove(id, options, { id, deleted: true });
  }
}
