import { Collection, segmentOf } from './resource.js';
import type {
  CallOptions,
  CreateOptions,
  Deleted,
  Delivery,
  DeliveryQuery,
  Page,
  Webhook,
  WebhookCreate,
  WebhookQuery,
  WebhookUpdate,
  WebhookWithSecret,
  WriteOptions,
} from './types.js';

interface Types {
  Record: Webhook;
  Item: Webhook;
  Query: WebhookQuery;
  Removed: Deleted;
}

/**
 * The webhooks of the organization. The key needs `webhooks:read` and `webhooks:write`. A response to `create` and
 * `rotateSecret` has no `secret` if it repeats that of an attempt that had succeeded. Call `rotateSecret` to get one.
 */
export class Webhooks extends Collection<Types> {
  async create(fields: WebhookCreate, options?: CreateOptions): Promise<WebhookWithSecret> {
    return this.transport.one(this.postOf('', fields, options), options);
  }

  async update(id: string, fields: WebhookUpdate, options: WriteOptions = {}): Promise<Webhook> {
    return this.transport.one(this.putOf(id, fields, options), options);
  }

  /** Deletes a webhook with its deliveries. */
  delete(id: string, options?: WriteOptions): Promise<Deleted> {
    return this.remove(id, options, { id, deleted: true });
  }

  /** Replaces the secret. For 24 hours, events have signatures of both. */
  async rotateSecret(id: string, options?: CreateOptions): Promise<WebhookWithSecret> {
    return this.act(`${segmentOf(id)}/rotate-secret`, options);
  }

  /** Sends a test event once, after the response. `deliveries` has the outcome. */
  async test(id: string, options?: CreateOptions): Promise<Delivery> {
    return this.act(`${segmentOf(id)}/test`, options);
  }

  /** One page of the deliveries of a webhook, with its exact total. */
  async deliveries(
    id: string,
    query: DeliveryQuery = {},
    options?: CallOptions,
  ): Promise<Page<Delivery>> {
    const path = `${this.path}${segmentOf(id)}/deliveries`;
    return this.transport.send({ method: 'GET', path, query }, options);
  }

  /** Sends the event of a delivery again. */
  async redeliver(id: string, deliveryId: string, options?: CreateOptions): Promise<Delivery> {
    const delivery = `${segmentOf(id)}/deliveries${segmentOf(deliveryId)}`;
    return this.act(`${delivery}/redeliver`, options);
  }

  /** A POST without fields. */
  private act<Result>(action: string, options?: CreateOptions): Promise<Result> {
    return this.transport.one(this.postOf(action, {}, options), options);
  }
}
