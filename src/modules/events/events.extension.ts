import { defineExtension } from '../../platform/extension/extension.js';
import { addEventCommands } from './events.commands.js';
import { EventsModule } from './events.module.js';

export const eventsExtension = defineExtension({
  name: 'events',
  module: EventsModule,
  scopes: ['events:read'],
  commands: [addEventCommands],
});
