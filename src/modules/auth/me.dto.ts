import { MAX_INTEGER } from '../../platform/config/setting.js';
import { Nested } from '../../platform/fields/nested.js';
import { EnumArray } from '../../platform/fields/kinds/output-kinds.js';
import { DateTime, Integer, Text } from '../../platform/fields/kinds/kinds.js';
import { RecordId } from '../../platform/fields/kinds/record-fields.js';
import { TimeZone } from '../../platform/fields/kinds/time-zone.js';
import { NAME } from './key.dto.js';
import type { Call } from '../../platform/data/call.js';
import { SCOPES } from '../../platform/access/scopes.js';

class KeyOrganizationDto {
  @RecordId('organization', '01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21') id: string;
  @Text({ ...NAME, description: 'Its name.', example: 'Harbor Roofing' })
  name: string;
  @TimeZone({ required: true, description: 'The zone of its days.', example: 'Europe/Berlin' })
  time_zone: string;
}

class KeyDto {
  @RecordId('key', '01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10') id: string;
  @Text({ ...NAME, description: 'What it is for.', example: 'n8n' })
  name: string;
}

const LIMIT = { min: 1, max: MAX_INTEGER, required: true };

/** The rate limits of a key. */
export class LimitsDto {
  @Integer({ ...LIMIT, description: 'Reads (GET, HEAD) in a window of 60 seconds.', example: 60 })
  reads_per_minute: number;
  @Integer({ ...LIMIT, description: 'Writes in a window of 60 seconds.', example: 30 })
  writes_per_minute: number;
}

/** A key with its organization, scopes and expiry. */
export class KeyInfoDto {
  @Nested(KeyOrganizationDto, {
    required: true,
    description: 'The organization that the key belongs to.',
  })
  organization: KeyOrganizationDto;
  @Nested(KeyDto, { required: true, description: 'The key of the request.' })
  key: KeyDto;
  @EnumArray(SCOPES, {
    description: 'What the key may do.',
    example: ['leads:read', 'leads:write'],
  })
  scopes: readonly string[];
  @DateTime({
    description: 'When the key expires; null if it does not expire.',
    example: '2027-01-01T00:00:00.000Z',
  })
  expires_at: Date | null;
}

/** The public data about the key of a caller, for REST and /mcp. */
export function describeKey({ tenant, actor: { key, scopes } }: Call): KeyInfoDto {
  return {
    organization: { id: tenant.id, name: tenant.name, time_zone: tenant.timeZone },
    key: { id: key.id, name: key.name },
    scopes: [...scopes],
    expires_at: key.expiresAt,
  };
}

/** A key with its rate limits. */
export class MeDto extends KeyInfoDto {
  @Nested(LimitsDto, { required: true, description: 'How many requests the key may make.' })
  limits: LimitsDto;
}
