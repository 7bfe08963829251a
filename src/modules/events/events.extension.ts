import { defineExtension } from '../../platform/extension/extension.js';
import { addEventCommands } from './events.commands.js';
import { EventFeedModule } from './event-feed.module.js';

export const eventsExtension = defineExtension({
  name: 'events',
  module: EventFeedModule,
  scopes: ['events:read'],
  commands: [addEventCommands],
});

declare module '../../platform/config/registered-extensions.js' {
  interface RegisteredExtensions {
    events: typeof eventsExtension;
  }
}
