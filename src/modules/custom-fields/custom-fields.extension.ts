import { defineExtension } from '../../platform/extension/extension.js';
import { CustomField } from './custom-field.entity.js';
import { CustomFieldsModule } from './custom-fields.module.js';

export const customFieldsExtension = defineExtension({
  name: 'custom-fields',
  module: CustomFieldsModule,
  scopes: ['fields:write'],
  explicitScopes: ['fields:write'],
  errors: {
    definition_conflicts: {
      status: 409,
      retryable: false,
      message: 'Stored leads do not fit the definition.',
      advice: 'Change the named leads or the definition first.',
    },
    too_many_custom_fields: {
      status: 409,
      retryable: false,
      message: 'The organization has 100 definitions of custom fields, which is the maximum.',
      advice: 'Delete a definition that is not used.',
    },
  },
  entities: [CustomField],
});
