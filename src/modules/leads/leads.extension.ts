import { defineExtension } from '../../platform/extension/extension.js';
import { addLeadCommands } from './leads.commands.js';
import { LeadsModule } from './leads.module.js';
import { Lead } from './lead.entity.js';
import { LeadImport } from './transfer/lead-import.entity.js';

export const leadsExtension = defineExtension({
  name: 'leads',
  module: LeadsModule,
  scopes: ['leads:read', 'leads:write'],
  entities: [Lead, LeadImport],
  commands: [addLeadCommands],
});
