import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { EventEmitter2 } from '@nestjs/event-emitter';
import { logger } from '../../platform/config/logger.js';
import {
  EventLogRepository,
  type EventMark,
} from '../../platform/data/events/event-log.repository.js';
import { EventWriteSignal } from '../../platform/data/gateway/event-write-signal.js';
import { EventFollower } from './event-follower.js';
import { eventOf, handlerCallOf } from './recorded-event.js';

/** Emits the events that this instance has written, for `@OnEvent`. */
@Injectable()
export class EventListeners implements OnApplicationBootstrap {
  private emitting = Promise.resolve();

  constructor(
    private readonly emitter: EventEmitter2,
    private readonly follower: EventFollower,
    private readonly eventWrites: EventWriteSignal,
    private readonly log: EventLogRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.follower.onEvents((marks) => {
      const own = marks.filter((mark) => this.isListenedTo(mark));
      if (own.length === 0) return;
      this.emitting = this.emitting.then(() => this.emit(own.map(({ position }) => position)));
    });
  }

  private isListenedTo({ origin, type }: EventMark): boolean {
    return origin === this.eventWrites.origin && this.emitter.hasListeners(type) === true;
  }

  private async emit(positions: readonly number[]): Promise<void> {
    try {
      for (const stored of await this.log.readAt(positions)) {
        this.emitter.emit(stored.type, eventOf(stored), handlerCallOf(stored, '@OnEvent'));
      }
    } catch (error) {
      logger.error({ err: error }, 'events could not be passed to listeners');
    }
  }
}
