import type { ProtocolMode } from './mcp-sdk-clients.js';
import type { EventReader, McpHttpClient } from '../../../src/testing/mcp-client.js';

/** A notification without the metadata of its protocol revision. */
export interface ResourceNotification {
  readonly method: string;
  readonly uri?: string;
}

const UPDATED = 'notifications/resources/updated';
export const TOOLS_CHANGED: ResourceNotification = { method: 'notifications/tools/list_changed' };

/** The notification of a changed record. */
export function resourceUpdated(uri: string): ResourceNotification {
  return { method: UPDATED, uri };
}

/** Subscribes to changes of records in one protocol mode. */
export class Subscriber {
  private constructor(
    private readonly stream: EventReader,
    /** The URIs that the server acknowledged. */
    readonly acknowledged: readonly string[],
  ) {}

  static of(
    protocolMode: ProtocolMode,
    caller: McpHttpClient,
    uris: readonly string[],
  ): Promise<Subscriber> {
    return protocolMode === 'sessions'
      ? Subscriber.inSession(caller, uris)
      : Subscriber.stateless(caller, uris);
  }

  private static async inSession(
    caller: McpHttpClient,
    uris: readonly string[],
  ): Promise<Subscriber> {
    const session = await caller.openSession('2025-06-18');
    const agreed: string[] = [];
    for (const uri of uris) {
      const { body } = await caller.rpc(session, 'resources/subscribe', { uri });
      if ('result' in body) agreed.push(uri);
    }
    return new Subscriber(await caller.openStream(session), agreed);
  }

  private static async stateless(
    caller: McpHttpClient,
    uris: readonly string[],
  ): Promise<Subscriber> {
    const filter = { toolsListChanged: true, resourceSubscriptions: uris };
    const stream = await caller.openStatelessStream(filter);
    const { message } = await stream.nextMessage();
    const { method, params } = message as {
      method: string;
      params: { notifications: { resourceSubscriptions?: string[] } };
    };
    expect(method).toBe('notifications/subscriptions/acknowledged');
    return new Subscriber(stream, params.notifications.resourceSubscriptions ?? []);
  }

  /** The next notification; undefined after the end of the stream. */
  async next(): Promise<ResourceNotification | undefined> {
    const event = await this.stream.next();
    if (!event) return undefined;
    const { method, params, result } = JSON.parse(event.data) as {
      method: string;
      params?: { uri?: string };
      result?: object;
    };
    // The result that ends a stream without a session.
    if (result) return this.next();
    return { method, ...(params?.uri !== undefined && { uri: params.uri }) };
  }

  /** The next notifications. */
  async take(count: number): Promise<(ResourceNotification | undefined)[]> {
    const notifications: (ResourceNotification | undefined)[] = [];
    while (notifications.length < count) notifications.push(await this.next());
    return notifications;
  }

  disconnect(): void {
    this.stream.disconnect();
  }
}
