import { defineExtension } from '../../platform/extension/extension.js';
import { AuthModule } from './auth.module.js';

export const authExtension = defineExtension({
  name: 'auth',
  module: AuthModule,
  scopes: ['keys:read', 'keys:write', 'organization:write'],
  explicitScopes: ['keys:read', 'keys:write', 'organization:write'],
  errors: {
    too_many_keys: {
      status: 409,
      retryable: false,
      message: 'The organization has 100 valid keys, which is the maximum of keys over REST.',
      advice: 'Revoke a key that is not used.',
    },
    first_key_exists: {
      status: 409,
      retryable: false,
      message: 'The organization has or had a key, so it gets no other first key.',
      advice: 'Ask a person of the organization for a key.',
    },
    key_not_manageable: {
      status: 409,
      retryable: false,
      message: 'The key of the request may not do this to the other key.',
      advice: 'Do not retry. Ask the user for another key.',
    },
  },
});
