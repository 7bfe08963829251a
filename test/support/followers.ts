import type { Era } from './speakers.js';
import type { EventReader, McpCaller } from '../../src/testing/mcp-client.js';

/** A notification, without what the revision adds to every one. */
export interface Told {
  readonly method: string;
  readonly uri?: string;
}

const UPDATED = 'notifications/resources/updated';
export const TOOLS_CHANGED: Told = { method: 'notifications/tools/list_changed' };

/** That a record has changed. */
export function updated(uri: string): Told {
  return { method: UPDATED, uri };
}

/** Who is told of changes of records, in one era. */
export class Follower {
  private constructor(
    private readonly stream: EventReader,
    /** The addresses that the server agreed to tell of. */
    readonly agreed: readonly string[],
  ) {}

  static of(era: Era, caller: McpCaller, uris: readonly string[]): Promise<Follower> {
    return era === 'sessions' ? Follower.inSession(caller, uris) : Follower.alone(caller, uris);
  }

  private static async inSession(caller: McpCaller, uris: readonly string[]): Promise<Follower> {
    const session = await caller.open('2025-06-18');
    const agreed: string[] = [];
    for (const uri of uris) {
      const { body } = await caller.rpc(session, 'resources/subscribe', { uri });
      if ('result' in body) agreed.push(uri);
    }
    return new Follower(await caller.listen(session), agreed);
  }

  private static async alone(caller: McpCaller, uris: readonly string[]): Promise<Follower> {
    const filter = { toolsListChanged: true, resourceSubscriptions: uris };
    const stream = await caller.listenAlone(filter);
    const { message } = await stream.nextMessage();
    const { method, params } = message as {
      method: string;
      params: { notifications: { resourceSubscriptions?: string[] } };
    };
    expect(method).toBe('notifications/subscriptions/acknowledged');
    return new Follower(stream, params.notifications.resourceSubscriptions ?? []);
  }

  /** What comes next; undefined where the server has ended the stream. */
  async next(): Promise<Told | undefined> {
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
  async take(count: number): Promise<(Told | undefined)[]> {
    const told: (Told | undefined)[] = [];
    while (told.length < count) told.push(await this.next());
    return told;
  }

  leave(): void {
    this.stream.leave();
  }
}
