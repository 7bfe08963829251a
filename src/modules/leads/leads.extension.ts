import { defineExtension } from '../../platform/extension/extension.js';
import { addLeadCommands } from './leads.commands.js';
import { mergedInto } from './lead-exists.js';
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
    merged: {
      status: 409,
      retryable: false,
      message: 'The lead was merged into another one, and cannot be restored.',
      advice: 'Use the lead that has taken it in.',
      example: {
        message: 'The lead was merged into another one, and cannot be restored.',
        details: [mergedInto('id', '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43')],
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
