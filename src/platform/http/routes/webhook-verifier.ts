import type { IncomingHttpHeaders } from 'node:http';
import type { Call } from '../../data/call.js';

/** A request to a webhook route, before it is verified. */
export interface WebhookDelivery {
  readonly headers: IncomingHttpHeaders;
  /** The bytes of the body, which the sender signed. */
  readonly body: Buffer;
  /** Path and query, as sent. */
  readonly url: string;
  /** The parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
}

/** Verifies the deliveries of a sender. It is a provider of the module of its route. */
export abstract class WebhookVerifier {
  /**
   * @returns the id of the organization that the delivery is for, or a `Call` of it; undefined if the
   *   signature is not valid, which is answered with 401
   */
  abstract verify(
    delivery: WebhookDelivery,
  ): string | Call | undefined | Promise<string | Call | undefined>;
}
