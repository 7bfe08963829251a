import { defineExtension } from '../../platform/extension/extension.js';
import { addEventCommands } from './events.commands.js';
import { EventsModule } from './events.module.js';

export const eventsExtension = defineExtension({
  name: 'events',
  module: EventsModule,
  scopes: ['events:read'],
  errors: {
    cursor_expired: {
      status: 410,
      retryable: false,
      message: 'The events after this position are no longer stored.',
      advice: 'Read the records again, then read events without `after`.',
    },
  },
  commands: [addEventCommands],
});
