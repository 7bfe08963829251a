import { Module } from '@nestjs/common';
import { AccessModule } from '../../platform/access/access.module.js';
import { CustomFieldsModule } from '../custom-fields/custom-fields.module.js';
import { EventsModule } from '../events/events.module.js';
import { LeadsModule } from '../leads/leads.module.js';
import { ResourcesModule } from '../resources/resources.module.js';
import { AppointmentBookings } from './appointment-bookings.service.js';
import { AppointmentsController } from './appointments.controller.js';
import { AppointmentsRepository } from './appointments.repository.js';
import { AppointmentsService } from './appointments.service.js';
import { AppointmentsTools } from './appointments.tools.js';
import { CalendarFeedController } from './calendars/calendar-feed.controller.js';
import { CalendarFeedService } from './calendars/calendar-feed.service.js';
import { CalendarsController } from './calendars/calendars.controller.js';
import { CalendarsRepository } from './calendars/calendars.repository.js';
import { CalendarsService } from './calendars/calendars.service.js';

@Module({
  imports: [AccessModule, CustomFieldsModule, EventsModule, LeadsModule, ResourcesModule],
  controllers: [AppointmentsController, CalendarsController, CalendarFeedController],
  providers: [
    AppointmentsRepository,
    AppointmentBookings,
    AppointmentsService,
    AppointmentsTools,
    CalendarsRepository,
    CalendarsService,
    CalendarFeedService,
  ],
  exports: [AppointmentsService],
})
export class AppointmentsModule {}
