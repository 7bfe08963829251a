import { defineExtension } from '../../platform/extension/extension.js';
import { AppointmentsModule } from './appointments.module.js';
import { Appointment } from './appointment.entity.js';
import { Calendar } from './calendars/calendar.entity.js';

export const appointmentsExtension = defineExtension({
  name: 'appointments',
  module: AppointmentsModule,
  scopes: ['appointments:read', 'appointments:write'],
  errors: {
    calendar_too_large: {
      status: 422,
      retryable: false,
      message: 'The calendar has more than 10,000 appointments, which is the maximum.',
      advice: 'Read the appointments of the resource with list_appointments.',
    },
  },
  entities: [Appointment, Calendar],
});
