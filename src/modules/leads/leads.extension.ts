import { defineExtension } from '../../platform/extension/extension.js';
import { addLeadCommands } from './leads.commands.js';
import { LeadsModule } from './leads.module.js';
import { Lead } from './lead.entity.js';
import { LeadImport } from './transfer/lead-import.entity.js';

export const leadsExtension = defineExtension({
  name: 'leads',
  module: LeadsModule,
  scopes: ['leads:read', 'leads:write'],
  errors: {
    lead_not_found: {
      status: 404,
      retryable: false,
      message: 'There is no such lead.',
      advice: 'Find the lead with list_leads, or create it with create_lead.',
      example: {
        message: 'lead_id does not refer to a lead of the organization.',
        details: [{ field: 'lead_id', message: 'does not refer to a lead of the organization' }],
      },
    },
    compliance_blocked: {
      status: 422,
      retryable: false,
      message: 'The lead must not be contacted.',
      advice: 'Do not contact the lead. Tell the user.',
    },
  },
  entities: [Lead, LeadImport],
  commands: [addLeadCommands],
});
