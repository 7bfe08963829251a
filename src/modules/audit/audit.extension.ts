import { defineExtension } from '../../platform/extension/extension.js';
import { AuditModule } from './audit.module.js';

export const auditExtension = defineExtension({
  name: 'audit',
  module: AuditModule,
  scopes: ['audit:read'],
  explicitScopes: ['audit:read'],
});
