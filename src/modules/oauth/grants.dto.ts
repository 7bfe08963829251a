import { type Confirmations, CONFIRMATIONS } from '../../platform/data/call.js';
import { DateTime, OneOf, Text, Uuid } from '../../platform/fields/kinds/kinds.js';
import { Names } from '../../platform/fields/kinds/output-kinds.js';
import {
  CreatedAt,
  OrganizationId,
  RecordId,
  TimeOf,
} from '../../platform/fields/kinds/record-fields.js';

function AsksForConfirmation(): PropertyDecorator {
  return OneOf(CONFIRMATIONS, {
    required: true,
    description:
      'Whether tools of /mcp ask the user before they delete, cancel or merge, if the client can show forms.',
    example: 'ask',
    column: { default: 'ask' },
  });
}

/** A change of a grant. */
export class UpdateGrantDto {
  @AsksForConfirmation() confirmations: Confirmations;
}

/** What a person has granted to an application (docs/contract/oauth.md#grants). */
export class GrantDto {
  @RecordId('grant', '01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54') id: string;
  @OrganizationId() organization_id: string;
  @Uuid({
    required: true,
    description: 'The API key that the person gave when signing in.',
    example: '01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10',
  })
  key_id: string;
  @Uuid({
    description: 'The user whom the key names, if it names one.',
    example: '01a1fbdc-52c3-7b18-9a4f-2d1c7e6b5a43',
  })
  user_id: string | null;
  @Text({
    required: true,
    max: 2_000,
    description: 'Id of the application: the URL of its metadata, or that of its registration.',
    example: 'https://claude.ai/oauth/client.json',
    column: { collation: 'C' },
  })
  client_id: string;
  @Text({
    min: 0,
    max: 200,
    description: 'The name that the application has given itself.',
    example: 'Claude',
  })
  client_name: string;
  @Names({ description: 'What the application may do.', example: ['leads:read'] })
  scopes: readonly string[];
  @AsksForConfirmation() confirmations: Confirmations;
  @CreatedAt() created_at: Date;
  @DateTime({
    required: true,
    description: 'When it ends, unless it is revoked earlier.',
    example: '2026-07-04T16:20:00.000Z',
  })
  expires_at: Date;
  @TimeOf('When it was last used, to a minute.')
  last_used_at: Date | null;
  @TimeOf('When it was revoked.')
  revoked_at: Date | null;
}

/** A grant that was revoked. */
export class RevokedGrantDto {
  @RecordId('grant', '01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54') id: string;
  @TimeOf('When it was revoked.', { required: true })
  revoked_at: Date;
}
