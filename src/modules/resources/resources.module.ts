import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { BookingsService } from './bookings/bookings.service.js';
import { BusyTimesRepository } from './bookings/busy-times.repository.js';
import { HoldsController } from './bookings/holds.controller.js';
import { HoldsService } from './bookings/holds.service.js';
import { ResourcesController } from './resources.controller.js';
import { ResourcesRepository } from './resources.repository.js';
import { ResourcesService } from './resources.service.js';

@Module({
  imports: [EventsModule],
  controllers: [ResourcesController, HoldsController],
  providers: [
    ResourcesRepository,
    ResourcesService,
    BusyTimesRepository,
    BookingsService,
    HoldsService,
  ],
  exports: [ResourcesService, BookingsService, HoldsService],
})
export class ResourcesModule {}
