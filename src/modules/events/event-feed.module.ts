import { Module } from '@nestjs/common';
import { EventsController } from './events.controller.js';
import { EventsModule } from './events.module.js';

/** Serves the feed of events. */
@Module({ imports: [EventsModule], controllers: [EventsController] })
export class EventFeedModule {}
