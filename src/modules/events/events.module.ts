import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { AccessModule } from '../../platform/access/access.module.js';
import { DurableHandlers } from './durable-handlers.js';
import { EventHandlersRepository } from './event-handlers.repository.js';
import { EventLogRepository } from './event-log.repository.js';
import { EventsRepository } from './events.repository.js';
import { EventFollower } from './event-follower.js';
import { EventPublisher } from './event-publisher.js';
import { EventTypes } from './event-types.js';
import { ScheduledEvents } from './scheduled-events.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

/** Publishes the events of changed records, and delivers them to readers and handlers. */
@Module({
  imports: [AccessModule, DiscoveryModule, EventEmitterModule.forRoot({ wildcard: true })],
  controllers: [EventsController],
  providers: [
    EventHandlersRepository,
    EventLogRepository,
    EventsRepository,
    EventFollower,
    EventTypes,
    EventsService,
    // Handlers register before the publisher starts.
    DurableHandlers,
    EventPublisher,
    ScheduledEvents,
  ],
  exports: [EventFollower, EventTypes, EventsService],
})
export class EventsModule {}
