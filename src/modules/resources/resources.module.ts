import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { AvailabilityController } from './bookings/availability.controller.js';
import { AvailabilityService } from './bookings/availability.service.js';
import { BookingsService } from './bookings/bookings.service.js';
import { BookingsTools } from './bookings/bookings.tools.js';
import { BusyTimesRepository } from './bookings/busy-times.repository.js';
import { FreeSlotsService } from './bookings/free-slots.service.js';
import { HoldsController } from './bookings/holds.controller.js';
import { HoldsService } from './bookings/holds.service.js';
import { ProposalTimes } from './bookings/proposal-times.js';
import { ResourcesController } from './resources.controller.js';
import { ResourcesRepository } from './resources.repository.js';
import { ResourcesService } from './resources.service.js';

@Module({
  imports: [EventsModule],
  controllers: [ResourcesController, AvailabilityController, HoldsController],
  providers: [
    ResourcesRepository,
    ResourcesService,
    BusyTimesRepository,
    ProposalTimes,
    BookingsService,
    HoldsService,
    AvailabilityService,
    FreeSlotsService,
    BookingsTools,
  ],
  exports: [ResourcesService, BookingsService, HoldsService],
})
export class ResourcesModule {}
