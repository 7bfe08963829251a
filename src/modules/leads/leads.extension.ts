import { defineExtension } from '../../platform/extension/extension.js';
import { addLeadCommands } from './leads.commands.js';
import { LeadsModule } from './leads.module.js';
import { leadsTable } from './leads.table.js';

export const leadsExtension = defineExtension({
  name: 'leads',
  module: LeadsModule,
  scopes: ['leads:read', 'leads:write'],
  tables: [leadsTable],
  commands: [addLeadCommands],
});

declare module '../../platform/config/registered-extensions.js' {
  interface RegisteredExtensions {
    leads: typeof leadsExtension;
  }
}
