import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { repeatWhileDown } from '../../platform/data/connection/repeat-while-down.js';
import { logger } from '../../platform/config/logger.js';
import {
  type ClaimedHandler,
  EventHandlersRepository,
  HANDLER_LEASES,
} from './event-handlers.repository.js';
import { EventLogRepository } from './event-log.repository.js';
import type { EventOfOrganization } from './stored-event.js';
import {
  assertSingleton,
  type DecoratedMethod,
  decoratedMethods,
} from '../../platform/discovery/decorated-methods.js';
import { BackgroundWork } from '../../platform/jobs/background-work.js';
import { Leases } from '../../platform/jobs/leases.js';
import { assertJobName, retryDelayMs } from '../../platform/jobs/job.js';
import { EventFollower } from './event-follower.js';
import {
  DURABLE_HANDLER,
  type DurableHandler,
  type EventBatch,
} from './event-handler.decorator.js';
import { EventTypes } from './event-types.js';
import { eventOf, handlerCallOf, type RecordedEvent } from './recorded-event.js';

/** Maximum number of events that one statement reads. */
const PAGE = 200;

/** How long progress is kept in memory. After a crash, the handler receives these events again. */
const STORE_EVERY_MS = 200;

/**
 * The minimum time between two runs of a handler in this instance, unless more events are left. A run processes the
 * events of several commits.
 */
const PAUSE_MS = 200;

/** How often handlers that no instance runs are claimed. */
const POLL_MS = 1_000;

const DELAYS = { delayMs: 1_000, maxDelayMs: 300_000 };

type Method = DecoratedMethod<DurableHandler>;

const FAILURE = 'the positions of event handlers could not be read or stored';

/**
 * Calls durable handlers, the methods with `@OnDurableEvent()`: each in one instance at a time, at least once for each
 * event, in the order of positions. The position of a handler is stored, so that it continues there after a restart.
 *
 * An instance claims the handlers that have events and that no instance runs, calls each with a page of events, and
 * releases the claim. A claim ends by itself if it is not extended, as after a crash.
 */
@Injectable()
export class DurableHandlers implements OnApplicationBootstrap {
  private methods: ReadonlyMap<string, Method> = new Map();
  /** The handlers that run, and those whose last run ended less than `PAUSE_MS` ago. */
  private readonly running = new Set<string>();
  private isClaiming = false;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly handlers: EventHandlersRepository,
    private readonly log: EventLogRepository,
    private readonly follower: EventFollower,
    private readonly background: BackgroundWork,
    private readonly leases: Leases,
    private readonly types: EventTypes,
  ) {}

  /** @throws Error if two methods have the same name, or one names an unknown type of events */
  async onApplicationBootstrap(): Promise<void> {
    this.methods = this.discover();
    if (this.methods.size === 0 || !this.background.isServer) return;
    const names = [...this.methods.keys()];
    await repeatWhileDown(() => this.handlers.register(names));
    this.follower.onEvents(() => {
      this.background.start(() => this.claimIdle(), FAILURE);
    });
    this.background.repeat(POLL_MS, () => this.claimIdle(), FAILURE);
  }

  private discover(): ReadonlyMap<string, Method> {
    const methods = new Map<string, Method>();
    for (const method of decoratedMethods<DurableHandler>(this.discovery, DURABLE_HANDLER)) {
      const { name, types = [] } = method.declaration;
      assertJobName(name);
      assertSingleton(`The event handler ${name}`, method);
      if (methods.has(name)) throw new Error(`Two methods are declared as event handler ${name}`);
      this.types.assertKnown(types, `The event handler ${name}`);
      methods.set(name, method);
    }
    return methods;
  }

  private async claimIdle(): Promise<void> {
    const idle = [...this.methods.keys()].filter((name) => !this.running.has(name));
    if (this.isClaiming || idle.length === 0) return;
    this.isClaiming = true;
    try {
      for (const claimed of await this.handlers.claim(idle)) {
        const method = this.methods.get(claimed.name);
        if (!method) continue;
        this.running.add(claimed.name);
        const run = () => this.run(method, claimed);
        this.background.start(() => this.leases.during(HANDLER_LEASES, claimed, run), FAILURE);
      }
    } finally {
      this.isClaiming = false;
    }
  }

  private async run(method: Method, claimed: ClaimedHandler): Promise<void> {
    let pauseMs = PAUSE_MS;
    try {
      const head = Math.max(this.follower.head, claimed.position);
      const { types } = method.declaration;
      const events = await this.log.readAfter(claimed.position, head, types, PAGE);
      if (events.length === PAGE) pauseMs = 0;
      await this.process(method, claimed, events, head);
    } finally {
      setTimeout(() => {
        this.running.delete(claimed.name);
        this.background.start(() => this.claimIdle(), FAILURE);
      }, pauseMs).unref();
    }
  }

  /**
   * Calls a handler with a page of events, and stores its position. It stops if the handler fails or belongs to another
   * instance, or if the server stops.
   * @param head a position up to which all events were visible when the page was read. After a page that was not full, the
   *   handler has processed all events up to it, also if the last ones are of types that it does not receive.
   */
  private async process(
    { run }: Method,
    claimed: ClaimedHandler,
    events: readonly EventOfOrganization[],
    head: number,
  ): Promise<void> {
    const memo: EventBatch['memo'] = new Map();
    const pairs = events.map((stored) => ({ stored, event: eventOf(stored) }));
    let storedAt = performance.now();
    let last: number | undefined;
    for (const [index, { stored, event }] of pairs.entries()) {
      if (!this.background.isAccepting) {
        await this.handlers.release(claimed, last);
        return;
      }
      const batch: EventBatch = { memo, following: () => followingOf(pairs, index) };
      try {
        await run(handlerCallOf(stored, `event handler ${claimed.name}`), event, batch);
      } catch (error) {
        const isClaimed = last === undefined || (await this.handlers.advance(claimed, last));
        if (isClaimed) await this.retryLater(claimed, stored, last === undefined, error);
        return;
      }
      last = stored.position;
      if (performance.now() - storedAt < STORE_EVERY_MS) continue;
      if (!(await this.handlers.advance(claimed, last))) return;
      storedAt = performance.now();
    }
    await this.handlers.release(claimed, events.length < PAGE ? head : last);
  }

  /** @param isSameEvent whether the run failed at its first event, at which an earlier run can have failed as well */
  private async retryLater(
    claimed: ClaimedHandler,
    event: EventOfOrganization,
    isSameEvent: boolean,
    error: unknown,
  ): Promise<void> {
    const failures = isSameEvent ? claimed.failures : 0;
    const { organization_id: organization, type, record_id: record } = event;
    const line = { err: error, handler: claimed.name, organization, type, record };
    logger.warn(line, 'an event handler failed and will be called again');
    const name = error instanceof Error ? error.name : typeof error;
    await this.handlers.retry(claimed, name, retryDelayMs(DELAYS, failures + 1));
  }
}

/** An event as it is stored, and as handlers receive it. */
interface Pair {
  readonly stored: EventOfOrganization;
  readonly event: RecordedEvent;
}

function* followingOf(pairs: readonly Pair[], index: number): Generator<RecordedEvent> {
  const organization = pairs[index]?.stored.organization_id;
  for (const { stored, event } of pairs.slice(index + 1)) {
    if (stored.organization_id !== organization) return;
    yield event;
  }
}
