import { defineExtension } from '../../platform/extension/extension.js';
import { AppointmentsModule } from './appointments.module.js';
import { appointmentsTable } from './appointments.table.js';

export const appointmentsExtension = defineExtension({
  name: 'appointments',
  module: AppointmentsModule,
  scopes: ['appointments:read', 'appointments:write'],
  tables: [appointmentsTable],
});

declare module '../../platform/config/registered-extensions.js' {
  interface RegisteredExtensions {
    appointments: typeof appointmentsExtension;
  }
}
