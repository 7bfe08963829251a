import type { ApiCall, Transport } from './transport.js';
import { LatitudeBatchError } from './errors.js';
import { Events } from './events.js';
import { jsonOf } from './json.js';
import type {
  BatchOptions,
  BatchResponse,
  CallOptions,
  Counts,
  CreateOptions,
  CursorPage,
  CursorQuery,
  EventsPage,
  GetOptions,
  Page,
  RecordEvent,
  RecordEventQuery,
  SyncPage,
  SyncState,
  WithDeletedAt,
  WriteOptions,
} from './types.js';

/** The most records on a page. */
export const MAX_LIMIT = 100;

/** Types of records that can be read: record, list item, query, and the response to a deletion. */
export interface CollectionTypes {
  Record: object;
  Item: { id: string };
  Query: { page?: number | undefined; limit?: number | undefined };
  Removed: object;
}

/** Types of records that can be read and written: those of the records, and the inputs. */
export interface ResourceTypes extends CollectionTypes {
  Create: object;
  Update: object;
  BatchItem: object;
  GetOptions: CallOptions;
}

/** Types of records that can also be counted. */
export interface CountedTypes extends ResourceTypes {
  CountQuery: object;
}

/** An item of a list with the parameter `fields`. */
export type SomeFields<T extends CollectionTypes> = Partial<T['Record'] & T['Item']> & {
  id: string;
};

/**
 * One kind of record, which is read by id. Every method rejects with a `LatitudeError`, or with a `TypeError` that names
 * the argument if it cannot be sent.
 */
export class Endpoint<T extends Pick<CollectionTypes, 'Record' | 'Removed'>> {
  /** @param path of the records, without the id */
  constructor(
    protected readonly transport: Transport,
    protected readonly path: string,
  ) {}

  async get(id: string, options?: CallOptions): Promise<T['Record']> {
    return this.transport.one({ method: 'GET', path: this.path + segmentOf(id) }, options);
  }

  /** A PUT of a record. */
  protected putOf(id: string, fields: object, options: WriteOptions) {
    const path = this.path + segmentOf(id);
    return {
      method: 'PUT',
      path,
      headers: ifMatch(options),
      body: jsonOf('fields', fields),
    } as const;
  }

  /** A POST whose attempts share one `Idempotency-Key`. @param action what follows the path of the list */
  protected postOf(
    action: string,
    fields: object,
    options: CreateOptions & WriteOptions = {},
  ): ApiCall {
    const headers = { ...idempotencyKey(options), ...ifMatch(options) };
    return { method: 'POST', path: this.path + action, headers, body: jsonOf('fields', fields) };
  }

  /** @param ifGone the result if an earlier attempt of the same call may have deleted the record */
  protected async remove(
    id: string,
    options: WriteOptions = {},
    ifGone?: T['Removed'],
  ): Promise<T['Removed']> {
    const path = this.path + segmentOf(id);
    const bodyIfGone = ifGone && { data: ifGone };
    const call = { method: 'DELETE', path, headers: ifMatch(options), bodyIfGone } as const;
    return this.transport.one(call, options);
  }
}

/** One kind of record, which is read by id and as a list. */
export class Collection<T extends CollectionTypes> extends Endpoint<T> {
  /** One page of the list, with its exact total. */
  async list(query: T['Query'] = {}, options?: CallOptions): Promise<Page<T['Item']>> {
    return this.transport.send({ method: 'GET', path: this.path, query }, options);
  }

  /**
   * Iterates over all records of the list. Records that are created, deleted or moved meanwhile may be
   * missing. No record is repeated: the ids of all records are kept until the end of the iteration.
   */
  async *all(query: T['Query'] = {}, options?: CallOptions): AsyncGenerator<T['Item'], void> {
    const limit = query.limit ?? MAX_LIMIT;
    const seen = new Set<string>();
    for (let page = query.page ?? 1; ; page++) {
      const { data, meta } = await this.list({ ...query, page, limit }, options);
      for (const item of data) {
        if (seen.has(item.id)) continue;
        seen.add(item.id);
        yield item;
      }
      if (data.length === 0 || page >= meta.total_pages) return;
    }
  }
}

/**
 * What the path of a record has after that of the list.
 * @throws TypeError if the id would change the path or is not valid Unicode
 */
export function segmentOf(id: string): string {
  if (typeof id !== 'string' || /^\.{0,2}$|\p{Cs}/u.test(id)) {
    throw new TypeError('id must be the id of a record');
  }
  return `/${encodeURIComponent(id)}`;
}

/** Reads and writes of one kind of record. */
export class Resource<T extends ResourceTypes> extends Collection<T> {
  /**
   * @param path of the list
   * @param eventTypes of the records, separated by commas
   */
  constructor(
    transport: Transport,
    path: string,
    private readonly eventTypes: string,
  ) {
    super(transport, path);
  }

  /** One page of the list, with its exact total. With `after`, it is read by cursor and has none. */
  override list(
    query: T['Query'] & { after: string; fields: string },
    options?: CallOptions,
  ): Promise<CursorPage<SomeFields<T>>>;
  override list(
    query: T['Query'] & { after: string },
    options?: CallOptions,
  ): Promise<CursorPage<T['Item']>>;
  override list(
    query: T['Query'] & { fields: string },
    options?: CallOptions,
  ): Promise<Page<SomeFields<T>>>;
  override list(query?: T['Query'], options?: CallOptions): Promise<Page<T['Item']>>;
  override async list(query: T['Query'] = {}, options?: CallOptions): Promise<unknown> {
    return this.transport.send({ method: 'GET', path: this.path, query }, options);
  }

  /** @param options `include` adds fields about related records, if the records have some */
  override async get(id: string, options: T['GetOptions'] = {}): Promise<T['Record']> {
    const { include, ...others } = options as GetOptions;
    const path = this.path + segmentOf(id);
    return this.transport.one({ method: 'GET', path, query: { include } }, others);
  }

  /** One page of who changed a record and how, oldest first, also after its deletion. */
  async events(
    id: string,
    query: RecordEventQuery = {},
    options?: CallOptions,
  ): Promise<EventsPage> {
    const path = `${this.path}${segmentOf(id)}/events`;
    return this.transport.send({ method: 'GET', path, query }, options);
  }

  /**
   * Reads all records, or what has changed since an earlier sync. It ends when there is nothing more at the moment.
   * Store the state of each page together with its changes: a sync that continues from there misses nothing.
   * @param state of the last page that was stored; without it, all records are read
   */
  async *sync(
    state?: SyncState,
    options?: CallOptions,
  ): AsyncGenerator<SyncPage<T['Record']>, void> {
    const feed = new Events(this.transport);
    const newest = async () => (await feed.list({ after: 'latest', limit: 1 }, options)).meta.next;
    let { events, list } = state ?? { events: await newest(), list: '' };
    while (list !== undefined) {
      const query = { after: list, fields: '*', limit: MAX_LIMIT };
      const { data, meta } = await this.list(query, options);
      list = meta.has_more ? meta.next : undefined;
      const next = list === undefined ? { events } : { events, list };
      yield { changed: data, deleted: [], state: next };
    }
    for (let hasMore = true; hasMore;) {
      const query = { after: events, types: this.eventTypes, limit: MAX_LIMIT };
      const { data, meta } = await feed.list(query, options);
      events = meta.next;
      hasMore = meta.has_more;
      yield { ...changesOf<T['Record']>(data), state: { events } };
    }
  }

  /** Creates a record. All attempts share one `Idempotency-Key`, so that it is created once. */
  async create(fields: T['Create'], options?: CreateOptions): Promise<T['Record']> {
    return this.transport.one(this.postOf('', fields, options), options);
  }

  /**
   * Creates, changes and deletes up to 100 records. All attempts share one `Idempotency-Key`.
   * @throws LatitudeBatchError if an item failed, unless `throwOnFailed` is false
   */
  async batch(
    items: readonly T['BatchItem'][],
    { atomic = false, throwOnFailed = true, ...options }: BatchOptions = {},
  ): Promise<BatchResponse> {
    for (const item of items) if ('if_match' in item) ifMatch({ ifMatch: item.if_match as string });
    const call = this.postOf('/batch', { atomic, items }, options);
    const response = await this.transport.send<BatchResponse>(call, options);
    if (throwOnFailed && response.meta.failed > 0) throw new LatitudeBatchError(response);
    return response;
  }

  /** Changes the given fields; `null` clears a field. */
  async update(id: string, fields: T['Update'], options: WriteOptions = {}): Promise<T['Record']> {
    return this.transport.one(this.putOf(id, fields, options), options);
  }
}

/** A resource whose records can be counted. */
class CountedResource<T extends CountedTypes> extends Resource<T> {
  /** The numbers of records by the values of a field. */
  async counts(query: T['CountQuery'], options?: CallOptions): Promise<Counts> {
    return this.transport.send({ method: 'GET', path: `${this.path}/counts`, query }, options);
  }
}

/** A resource whose records are deleted. */
export class DeletableResource<T extends CountedTypes> extends CountedResource<T> {
  /** Deletes a record. It is a success if an earlier attempt of this call has deleted it. */
  delete(id: string, options?: WriteOptions): Promise<T['Removed']> {
    return this.remove(id, options, { id, deleted: true });
  }
}

/** A resource whose deleted records can be restored. */
export class RestorableResource<T extends CountedTypes> extends DeletableResource<T> {
  /** One page of the deleted records, the most recently deleted first. `after` is `meta.next` of the previous page. */
  deleted(
    { after, limit }: CursorQuery = {},
    options?: CallOptions,
  ): Promise<CursorPage<T['Item'] & WithDeletedAt>> {
    const query = { deleted: true, after, limit };
    return this.transport.send({ method: 'GET', path: this.path, query }, options);
  }

  /** Restores a deleted record. One that is not deleted stays as it is. */
  restore(id: string, options?: CreateOptions & WriteOptions): Promise<T['Record']> {
    return this.transport.one(this.postOf(`${segmentOf(id)}/restore`, {}, options), options);
  }
}

/** A resource whose records are cancelled and stay readable. */
export class CancellableResource<T extends CountedTypes> extends CountedResource<T> {
  cancel(id: string, options?: WriteOptions): Promise<T['Removed']> {
    return this.remove(id, options);
  }
}

/** @throws TypeError */
export function idempotencyKey({ idempotencyKey: key = randomKey() }: CreateOptions) {
  if (!/^[!-~]+$/.test(key)) throw new TypeError('idempotencyKey must be visible ASCII characters');
  return { 'Idempotency-Key': key };
}

/** @throws TypeError also if the tag is given but undefined, because the write would be unconditional */
function ifMatch(options: WriteOptions): Record<string, string> {
  if (!('ifMatch' in options)) return {};
  const { ifMatch: tag } = options;
  if (typeof tag !== 'string' || !/^[!-~][ -~]*$/.test(tag)) {
    throw new TypeError(
      'ifMatch must be an entity tag. Records from get, create and update have one, items of lists do not.',
    );
  }
  return { 'If-Match': tag };
}

/** The last state of each record, because a page can have several events of one. */
function changesOf<Item extends object>(events: readonly RecordEvent[]) {
  const last = new Map(events.map((event) => [event.record.id, event]));
  const isDeletion = ({ type }: RecordEvent) => type.endsWith('.deleted');
  const all = [...last.values()];
  return {
    changed: all.filter((event) => !isDeletion(event)).map(({ record }) => record as Item),
    deleted: all.filter(isDeletion).map(({ record }) => record.id),
  };
}

/** `crypto.randomUUID` is missing in pages without TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
