import type { ProtocolMode } from './mcp-sdk-clients.js';
import type { EventReader, McpHttpClient } from '../../src/testing/mcp-client.js';

/** A notification, without what the revision adds to every one. */
export interface ResourceNotification {
  readonly method: string;
  readonly uri?: string;
}

const UPDATED = 'notifications/resources/updated';
export const TOOLS_CHANGED: ResourceNotification = { method: 'notifications/tools/list_changed' };

/** That a record has changed. */
export function resourceUpdated(uri: string): ResourceNotification {
  return { method: UPDATED, uri };
}

/** Who is told of changes of records, in one era. */
export class Subscriber {
  private constructor(
    private readonly stream: EventReader,
    /** The addresses that the server agreed to tell of. */
    readonly acknowledged: readonly string[],
  ) {}

  static of(
    era: ProtocolMode,
    caller: McpHttpClient,
    uris: readonly string[],
  ): Promise<Subscriber> {
    return era === 'sessions'
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

  /** What comes next; undefined where the server has ended the stream. */
  async next(): Promise<ResourceNotification | undefined> {
    const event = await this.stream.next();
    if (!event) return undefined;
    const { method, params, result } = JSON.parse(event.data) as {
      method: string;
      params?: { uri?: string };
      result?: object;
    };
    // The last word of a stream without a session.
    if (result) return this.next();
    return { method, ...(params?.uri !== undefined && { uri: params.uri }) };
  }

  /** The next few of what comes. */
  async take(count: number): Promise<(ResourceNotification | undefined)[]> {
    const told: (ResourceNotification | undefined)[] = [];
    while (told.length < count) told.push(await this.next());
    return told;
  }

  disconnect(): void {
    this.stream.disconnect();
  }
}
