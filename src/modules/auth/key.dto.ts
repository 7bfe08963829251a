import { SCOPES, type Scope } from '../../platform/access/scopes.js';
import { type Confirmations, CONFIRMATIONS } from '../../platform/data/call.js';
import { MAX_INTEGER } from '../../platform/config/setting.js';
import { PickOf, RecordOf, UpdateOf } from '../../platform/fields/field.js';
import { DateTime, Integer, OneOf, SomeOf, Text, Uuid } from '../../platform/fields/kinds/kinds.js';
import { Names } from '../../platform/fields/kinds/output-kinds.js';
import { CreatedAt, RecordId, TimeOf } from '../../platform/fields/kinds/record-fields.js';

/** Maximum length of the name of an organization or a key, in code points. */
export const MAX_NAME_LENGTH = 200;

/** The name of an organization or a key. */
export const NAME = { max: MAX_NAME_LENGTH, required: true };

/** The longest overlap of a rotation over REST: 30 days. */
const MAX_OVERLAP_SECONDS = 30 * 24 * 60 * 60;

/** A rate limit that a key has of its own. Settings have its largest value (docs/contract/limits.md#limits-of-a-key). */
const LIMIT = { min: 1, max: MAX_INTEGER };

/** Fields of a new key (docs/contract/keys-and-scopes.md#keys-over-rest). */
export class CreateKeyDto {
  @Text({ ...NAME, description: 'What it is for.', example: 'n8n' })
  name: string;
  @SomeOf(SCOPES, {
    required: true,
    description: 'What the key may do: scopes that the key of the request has.',
    example: ['leads:read', 'leads:write'],
  })
  scopes: readonly Scope[];
  @DateTime({
    description: 'When it expires. Without it, when the key of the request does.',
    example: '2027-06-30T00:00:00.000Z',
  })
  expires_at?: Date | null;
  @Uuid({
    description:
      'The author of records that the key creates. Without it, that of the key of the request.',
    example: '01a1fbdc-52c3-7b18-9a4f-2d1c7e6b5a43',
  })
  user_id?: string | null;
  @OneOf(CONFIRMATIONS, {
    default: 'never',
    column: { default: 'never' },
    description:
      'Whether tools of /mcp ask the user before they delete, cancel or merge, if the client can show forms.',
    example: 'never',
  })
  confirmations?: Confirmations;
  @Integer({
    ...LIMIT,
    description: 'Reads in a window of 60 seconds. Null: the default limit of the service.',
    example: 60,
  })
  reads_per_minute?: number | null;
  @Integer({
    ...LIMIT,
    description: 'Writes in a window of 60 seconds. Null: the default limit of the service.',
    example: 30,
  })
  writes_per_minute?: number | null;
}

/** The rate limits of a new key. */
export class KeyLimitsDto extends PickOf(CreateKeyDto, [
  'reads_per_minute',
  'writes_per_minute',
] as const) {}

/** What an operator changes of a key. Limits that are left out keep their values. */
export class UpdateKeyLimitsDto extends UpdateOf(KeyLimitsDto) {}

/** A key in responses and lists. */
export class ApiKeyDto extends RecordOf(CreateKeyDto) {
  @Text({
    max: 8,
    required: true,
    description: 'The first characters of the key.',
    example: 'lat_3fGh',
  })
  key_start: string;
  @Names({
    description: 'The ids of the keys whose end ends this one, such as the key that made it.',
    example: [],
    column: { type: 'uuid', array: true, default: '{}' },
  })
  ends_with: readonly string[];
  @Uuid({
    description: 'The key that has replaced this one in a rotation.',
    example: '01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10',
  })
  successor_id: string | null;
  @TimeOf('When it was last used, to a minute.')
  last_used_at: Date | null;
  @TimeOf('When it was revoked.')
  revoked_at: Date | null;
  @CreatedAt() created_at: Date;
}

/** A key with the key itself, which is shown once. */
export class ApiKeyWithSecretDto extends ApiKeyDto {
  @Text({
    max: 100,
    isSecret: true,
    description: 'The key itself. It is never shown again, also not in a replay.',
    example: 'lat_3fGhJkLmNpQrStUvWxYz123456789AbCdEf0',
  })
  key?: string;
}

/** How a key is rotated. */
export class RotateKeyDto {
  @Integer({
    min: 0,
    max: MAX_OVERLAP_SECONDS,
    default: 0,
    description: 'How long the old key stays valid. It never ends later than before.',
    example: 86_400,
  })
  overlap_seconds: number;
}

/** A key that was revoked. */
export class RevokedKeyDto {
  @RecordId('key', '01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10') id: string;
  @TimeOf('When it was revoked.', { required: true })
  revoked_at: Date;
}
