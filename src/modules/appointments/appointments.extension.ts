import { defineExtension } from '../../platform/extension/extension.js';
import { AppointmentsModule } from './appointments.module.js';
import { Appointment } from './appointment.entity.js';

export const appointmentsExtension = defineExtension({
  name: 'appointments',
  module: AppointmentsModule,
  scopes: ['appointments:read', 'appointments:write'],
  entities: [Appointment],
});
