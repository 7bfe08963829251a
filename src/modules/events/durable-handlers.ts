import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Counter } from 'prom-client';
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
import { inSpan, processSpan, traceOfLog, traceparentOf } from '../../platform/tracing.js';
import { BackgroundWork } from '../../platform/jobs/background-work.js';
import { MetricsRegistry } from '../../platform/metrics-registry.js';
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
  /** The handlers that can have events. */
  private readonly waiting = new Set<string>();
  private isClaiming = false;
  private readonly failures = new Counter({
    name: 'latitude_event_handler_failures_total',
    help: 'Calls of event handlers that failed, by handler. Each is repeated.',
    labelNames: ['handler'],
    registers: [this.metrics],
  });

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly handlers: EventHandlersRepository,
    private readonly log: EventLogRepository,
    private readonly follower: EventFollower,
    private readonly background: BackgroundWork,
    private readonly leases: Leases,
    private readonly types: EventTypes,
    private readonly metrics: MetricsRegistry,
  ) {}

  /** @throws Error if two methods have the same name, or one names an unknown type of events */
  async onApplicationBootstrap(): Promise<void> {
    this.methods = this.discover();
    if (this.methods.size === 0 || !this.background.isServer) return;
    const names = [...this.methods.keys()];
    for (const handler of names) this.failures.inc({ handler }, 0);
    await repeatWhileDown(() => this.handlers.register(names));
    this.follower.onEvents((marks) => {
      this.wake(this.receiversOf(new Set(marks.map(({ type }) => type))));
    });
    const all = () => {
      this.wake(names);
    };
    this.background.repeat(POLL_MS, all, FAILURE);
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

  /**
   * The handlers that receive events of one of these types. The others, and those of few organizations, learn of their new
   * position with the next poll.
   */
  private receiversOf(published: ReadonlySet<string>): string[] {
    return Array.from(this.methods.values(), ({ declaration }) => declaration)
      .filter(({ organizations }) => organizations === undefined)
      .filter(({ types }) => types?.some((type) => published.has(type)) ?? true)
      .map(({ name }) => name);
  }

  /** Runs handlers that can have events. */
  private wake(names: Iterable<string>): void {
    for (const name of names) this.waiting.add(name);
    this.background.start(() => this.claimWaiting(), FAILURE);
  }

  private async claimWaiting(): Promise<void> {
    if (this.isClaiming) return;
    this.isClaiming = true;
    try {
      for (let names = this.takeWaiting(); names.length > 0; names = this.takeWaiting()) {
        for (const claimed of await this.handlers.claim(names)) this.start(claimed);
      }
    } finally {
      this.isClaiming = false;
    }
  }

  /** The waiting handlers that do not run. A running one looks for events at its end. */
  private takeWaiting(): string[] {
    const names = [...this.waiting].filter((name) => !this.running.has(name));
    this.waiting.clear();
    return names;
  }

  private start(claimed: ClaimedHandler): void {
    const method = this.methods.get(claimed.name);
    if (!method) return;
    this.running.add(claimed.name);
    const run = () => this.run(method, claimed);
    this.background.start(() => this.leases.during(HANDLER_LEASES, claimed, run), FAILURE);
  }

  private async run(method: Method, claimed: ClaimedHandler): Promise<void> {
    const { name } = method.declaration;
    let pauseMs = PAUSE_MS;
    try {
      const head = Math.max(this.follower.head, claimed.position);
      const events = await this.log.readAfter(claimed.position, head, method.declaration, PAGE);
      const isFull = events.length === PAGE;
      if (isFull) pauseMs = 0;
      const end = isFull ? (events.at(-1)?.position ?? head) : head;
      await this.process(method, claimed, events, end);
    } finally {
      setTimeout(() => {
        this.running.delete(name);
        this.wake([name]);
      }, pauseMs).unref();
    }
  }

  /**
   * Calls a handler with a page of events, and stores its position. It stops if the handler fails or belongs to another
   * instance, or if the server stops.
   * @param end the position that it has reached after them: that of the last one, or a later one, if the last events are none
   *   that it receives
   */
  private async process(
    { run }: Method,
    claimed: ClaimedHandler,
    events: readonly EventOfOrganization[],
    end: number,
  ): Promise<void> {
    const memo: EventBatch['memo'] = new Map();
    const pairs = events.map((stored) => ({ stored, event: eventOf(stored) }));
    const traces = new Map(pairs.map(({ stored, event }) => [event, stored.traceparent]));
    const traceOf = (event: RecordedEvent) => traces.get(event) ?? undefined;
    let storedAt = performance.now();
    let last: number | undefined;
    for (const [index, { stored, event }] of pairs.entries()) {
      if (!this.background.isAccepting) {
        await this.handlers.release(claimed, last);
        return;
      }
      const following = () => followingOf(pairs, index);
      const batch: EventBatch = { memo, following, traceparentOf: traceOf };
      try {
        await inSpan(processSpan(claimed.name, stored.traceparent), async (span) => {
          const call = handlerCallOf(stored, `event handler ${claimed.name}`);
          const traceparent = traceparentOf(span, call.traceparent);
          await run({ ...call, traceparent }, event, batch);
        });
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
    await this.handlers.release(claimed, end);
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
    const about = { handler: claimed.name, organization, type, record };
    const line = { err: error, ...about, ...traceOfLog(event.traceparent) };
    logger.warn(line, 'an event handler failed and will be called again');
    this.failures.inc({ handler: claimed.name });
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
