import {
  AUDIT_ACTORS,
  AUDIT_TYPES,
  type AuditActorKind,
  type AuditType,
} from '../../platform/data/audit/audit-types.js';
import {
  After,
  Before,
  DEFAULT_LIMIT,
  MAX_LIMIT,
  TimeFilter,
} from '../../platform/data/lists/list-query.js';
import { PickOf } from '../../platform/fields/field.js';
import { Integer, OneOf, Text, Uuid } from '../../platform/fields/kinds/kinds.js';
import { RecordId, TimeOf } from '../../platform/fields/kinds/record-fields.js';
import { Nested } from '../../platform/fields/nested.js';
import { MAX_NAME_LENGTH } from '../auth/key.dto.js';
import { EventActorDto } from '../events/event.dto.js';

/** Who has acted: the fields of the actor of an event, and what kind of actor it is. */
export class AuditActorDto extends PickOf(EventActorDto, [
  'channel',
  'request_id',
  'grant_id',
  'client_id',
] as const) {
  @OneOf(AUDIT_ACTORS, {
    required: true,
    description:
      'An API key, the key of an operator, a token of another issuer, a command of the command line, or the service itself.',
    example: 'key',
  })
  kind: AuditActorKind;

  @Text({
    max: 200,
    description: 'Id of the key; null for commands and the service.',
    example: '01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10',
  })
  key_id: string | null;

  @Text({
    max: MAX_NAME_LENGTH,
    description: 'Its name; null for commands and the service.',
    example: 'n8n',
  })
  key_name: string | null;
}

/** What an entry is about. */
export class AuditRecordDto {
  @Text({ required: true, max: 100, description: 'Its type.', example: 'webhook' })
  type: string;

  @Uuid({
    description: 'Its id; null for an export.',
    example: '01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77',
  })
  id: string | null;

  @Uuid({
    mayBeMissing: true,
    description: 'In the entries of an operator: the organization in which it has acted.',
    example: '01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21',
  })
  organization_id?: string;
}

/** An entry of the audit log (docs/contract/audit.md#entries). */
export class AuditEntryDto {
  @RecordId('entry', '01a1fbe1-2c4d-7b60-9e1f-3a7c5d8b0e42') id: string;

  @Text({
    required: true,
    max: 100,
    description: 'What was done to which type of record.',
    example: 'webhook.created',
  })
  type: string;

  @TimeOf('When it was done.', { required: true })
  at: Date;

  @Nested(AuditActorDto, { required: true, description: 'Who has done it.' })
  actor: AuditActorDto;

  @Text({
    max: 100,
    description: 'Address of the client; null for commands and the service, and after 90 days.',
    example: '203.0.113.7',
  })
  address: string | null;

  @Nested(AuditRecordDto, { required: true, description: 'What it was done to.' })
  record: AuditRecordDto;
}

/** The query parameters of the audit log. */
export class AuditQuery {
  @After() after?: string;

  @Before() before?: string;

  @Integer({
    min: 1,
    max: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'Most entries on a page.',
    example: DEFAULT_LIMIT,
  })
  limit: number;

  @OneOf(AUDIT_TYPES, { description: 'Only entries of this type.', example: 'webhook.created' })
  type?: AuditType;

  @Uuid({
    description: 'Only entries of what this key has done.',
    example: '01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10',
  })
  key_id?: string;

  @Uuid({
    description: 'Only entries about this record.',
    example: '01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77',
  })
  record_id?: string;

  @TimeFilter('Only entries of this time or later.', '2026-01-01T00:00:00Z')
  from?: Date;

  @TimeFilter('Only entries before this time.', '2026-02-01T00:00:00Z')
  to?: Date;
}
