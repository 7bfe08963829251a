import { defineExtension } from '../../platform/extension/extension.js';
import { AuthModule } from './auth.module.js';

export const authExtension = defineExtension({
  name: 'auth',
  module: AuthModule,
  scopes: ['keys:read', 'keys:write'],
  explicitScopes: ['keys:read', 'keys:write'],
});

declare module '../../platform/config/registered-extensions.js' {
  interface RegisteredExtensions {
    auth: typeof authExtension;
  }
}
