import { setTimeout as after } from 'node:timers/promises';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { Counter, Gauge } from 'prom-client';
import { logger } from '../../platform/config/logger.js';
import { repeat } from '../../platform/config/repeated-work.js';
import { Settings } from '../../platform/config/settings.js';
import {
  EventLogRepository,
  type EventMark,
  EVENTS_PER_PUBLICATION,
} from './event-log.repository.js';
import { EventWriteSignal } from '../../platform/data/gateway/event-write-signal.js';
import { MetricsRegistry } from '../../platform/metrics-registry.js';
import { inTrace } from '../../platform/tracing.js';
import { BackgroundWork } from '../../platform/jobs/background-work.js';
import { Job } from '../../platform/jobs/job.decorator.js';
import { EventFollower } from './event-follower.js';
import { eventOf, handlerCallOf } from './recorded-event.js';

/** How often each instance looks for events of other instances. */
const POLL_MS = 300;

/** The minimum time between two publications, which collects the events of several commits. */
const PAUSE_MS = 100;

const FAILURE = 'events could not be published';

/** How long a stop waits for the last publication. */
const DRAIN_MS = 2_000;

/**
 * Publishes the events of committed changes. Requests write events to an outbox, where they have no position yet. A
 * publication moves them to the feed of events, with positions in the order in which readers see them, and notifies the
 * listeners of this instance. Each server publishes its own events at once, and those of other processes soon after. It
 * emits those that it has written for `@OnEvent`.
 */
@Injectable()
export class EventPublisher
  implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown
{
  /** Ends the polling. Undefined before it begins, and after it has ended. */
  private stop: (() => void) | undefined;
  private running: Promise<void> | undefined;
  private publishing = Promise.resolve();
  private emitting = Promise.resolve();
  private isAwake = false;
  private hasFailed = false;
  private oldestWaiting: Date | null = null;
  private readonly published: Counter;

  constructor(
    private readonly eventWrites: EventWriteSignal,
    private readonly log: EventLogRepository,
    private readonly follower: EventFollower,
    private readonly background: BackgroundWork,
    private readonly emitter: EventEmitter2,
    private readonly settings: Settings,
    registry: MetricsRegistry,
  ) {
    const registers = [registry];
    this.published = new Counter({
      name: 'latitude_events_published_total',
      help: 'Events that this instance has published.',
      registers,
    });
    const age = new Gauge({
      name: 'latitude_events_oldest_unpublished_seconds',
      help: 'Age of the oldest event that is not published.',
      registers,
      collect: () => {
        age.set(this.oldestWaiting ? (Date.now() - this.oldestWaiting.getTime()) / 1_000 : 0);
      },
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.background.isServer) return;
    this.follower.onEvents((marks) => {
      const own = marks.filter((mark) => this.isListenedTo(mark));
      const positions = own.map(({ position }) => position);
      if (own.length > 0) this.emitting = this.emitting.then(() => this.emit(positions));
    });
    await this.maintainPartitions();
    await this.publish();
    const wake = () => {
      this.wake();
    };
    this.stop = repeat(POLL_MS, wake, FAILURE);
    this.eventWrites.notify = wake;
  }

  /** Notifies subscribers of committed changes before their streams are closed. */
  async onModuleDestroy(): Promise<void> {
    if (this.stop) await this.publishInTime();
  }

  /** Publishes the events of the last requests. The next startup publishes those that are left. */
  async onApplicationShutdown(): Promise<void> {
    if (!this.stop) return;
    this.stop();
    this.stop = undefined;
    await this.publishInTime();
  }

  /** Creates partitions ahead and drops expired ones (docs/contract/events.md#retention). */
  @Job({ name: 'latitude.event-partitions', every: '1h' })
  async maintainPartitions(): Promise<void> {
    try {
      await this.log.maintainPartitions(this.settings.eventsRetention);
    } catch (error) {
      // Without a partition of their own, events are stored in the default partition.
      logger.warn({ err: error }, 'the partitions of events were not maintained');
    }
  }

  /** Publishes all waiting events, and notifies this instance of those of every instance. */
  publish(): Promise<void> {
    this.publishing = this.publishing.then(() => this.publishWaiting());
    return this.publishing;
  }

  private async publishInTime(): Promise<void> {
    await Promise.race([this.publish(), after(DRAIN_MS, undefined, { ref: false })]);
  }

  private wake(): void {
    this.isAwake = true;
    // The request whose commit wakes it is only one of those whose events it publishes.
    this.running ??= inTrace(undefined, () => this.run()).finally(() => {
      this.running = undefined;
    });
  }

  private async run(): Promise<void> {
    while (this.isAwake && this.stop) {
      this.isAwake = false;
      await this.publish();
      await after(PAUSE_MS);
    }
  }

  private async publishWaiting(): Promise<void> {
    try {
      let count: number;
      do {
        const publication = await this.log.publish();
        count = publication.published.length;
        this.published.inc(count);
        this.oldestWaiting = count > 0 ? null : publication.oldestWaiting;
        await this.follower.advance(publication);
      } while (count === EVENTS_PER_PUBLICATION);
      this.hasFailed = false;
    } catch (error) {
      if (!this.hasFailed) logger.warn({ err: error }, FAILURE);
      this.hasFailed = true;
      // The age of the oldest event is not known, but grows.
      this.oldestWaiting ??= new Date();
    }
  }
  /** Whether this instance has written the event, and has a method with `@OnEvent` for it. */
  private isListenedTo({ origin, type }: EventMark): boolean {
    return origin === this.eventWrites.origin && this.emitter.hasListeners(type) === true;
  }

  /** Emits events for `@OnEvent`. */
  private async emit(positions: readonly number[]): Promise<void> {
    try {
      for (const stored of await this.log.readAt(positions)) {
        const call = handlerCallOf(stored, '@OnEvent');
        inTrace(stored.traceparent, () => this.emitter.emit(stored.type, eventOf(stored), call));
      }
    } catch (error) {
      logger.error({ err: error }, 'events could not be passed to listeners');
    }
  }
}
