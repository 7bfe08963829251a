/**
 * The types of entries of the audit log, each with the type of the record that it is about
 * (docs/contract/audit.md#types).
 */
export const AUDIT_RECORDS = {
  'key.created': 'key',
  'key.updated': 'key',
  'key.rotated': 'key',
  'key.revoked': 'key',
  'operator_key.created': 'operator_key',
  'operator_key.rotated': 'operator_key',
  'operator_key.revoked': 'operator_key',
  'grant.created': 'grant',
  'grant.updated': 'grant',
  'grant.revoked': 'grant',
  'organization.created': 'organization',
  'organization.updated': 'organization',
  'organization.suspended': 'organization',
  'organization.resumed': 'organization',
  'organization.removed': 'organization',
  'webhook.created': 'webhook',
  'webhook.updated': 'webhook',
  'webhook.secret_rotated': 'webhook',
  'webhook.disabled': 'webhook',
  'webhook.deleted': 'webhook',
  'custom_field.created': 'custom_field',
  'custom_field.updated': 'custom_field',
  'custom_field.deleted': 'custom_field',
  'resource.created': 'resource',
  'resource.updated': 'resource',
  'resource.deleted': 'resource',
  'calendar.created': 'calendar',
  'calendar.deleted': 'calendar',
  'import.created': 'import',
  'import.cancelled': 'import',
  'export.read': 'export',
  'personal_data.read': 'lead',
  'lead.erased': 'lead',
} as const;

export type AuditType = keyof typeof AUDIT_RECORDS;

export const AUDIT_TYPES = Object.keys(AUDIT_RECORDS) as AuditType[];

/**
 * Who has acted: an API key, the key of an operator, a token of another issuer, a command of the command line, or the service
 * itself.
 */
export const AUDIT_ACTORS = ['key', 'operator', 'token', 'command', 'service'] as const;

export type AuditActorKind = (typeof AUDIT_ACTORS)[number];
