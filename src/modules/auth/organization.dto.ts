import { isSupportedCountry } from 'libphonenumber-js';
import { ORDINARY_SCOPES, type Scope } from '../../platform/access/scopes.js';
import { UNKNOWN_FIELDS, type UnknownFields } from '../../platform/data/call.js';
import {
  type Declaration,
  declareField,
  PickOf,
  RecordOf,
  UpdateOf,
} from '../../platform/fields/field.js';
import { DateTime, Flag, OneOf, SomeOf, Text, Uuid } from '../../platform/fields/kinds/kinds.js';
import { Counts } from '../../platform/fields/kinds/output-kinds.js';
import { CreatedAt } from '../../platform/fields/kinds/record-fields.js';
import { rule } from '../../platform/fields/kinds/rules.js';
import { TimeZone } from '../../platform/fields/kinds/time-zone.js';
import { Nested } from '../../platform/fields/nested.js';
import { KeyLimitsDto, NAME } from './key.dto.js';
import { LimitsDto } from './me.dto.js';

/** A country code, ISO 3166-1 alpha-2, in any case. */
function PhoneRegion(declaration: Declaration<string>) {
  const isRegion = (value: unknown) => typeof value === 'string' && isSupportedCountry(value);
  return declareField(declaration, {
    schema: { type: 'string', minLength: 2, maxLength: 2 },
    rules: [rule('isRegion', isRegion, 'must be a two-letter country code such as US or DE')],
    normalize: (value) => (typeof value === 'string' ? value.toUpperCase() : value),
  });
}

/** Fields of a new organization (docs/contract/keys-and-scopes.md#operator-keys). */
export class CreateOrganizationDto {
  @Text({ ...NAME, description: 'Its name.', example: 'Harbor Roofing' })
  name: string;
  @PhoneRegion({
    description:
      'Country of phone numbers without a country code. Without it, the default of the server.',
    example: 'US',
  })
  phone_region?: string | null;
  @TimeZone({
    default: 'UTC',
    description: 'The zone of its days. No stored time depends on it.',
    example: 'Europe/Berlin',
  })
  time_zone: string;
}

/** Whether requests may set keys of custom fields that no definition has. */
function UnknownFieldsRule() {
  return OneOf(UNKNOWN_FIELDS, {
    default: 'allow',
    description:
      'Whether requests may set keys of `custom_fields` that no definition has. Keys that a lead has stay.',
    example: 'allow',
  });
}

const SUSPENDED = {
  description: 'Whether its keys are refused, and its deliveries are held.',
  example: false,
};

/** The fields of an organization that are changed together with those of its creation. */
class ChangeableOrganizationDto extends CreateOrganizationDto {
  @Flag({ ...SUSPENDED, default: false })
  suspended: boolean;
}

/** What an operator changes of an organization. Fields that are left out keep their values. */
export class UpdateOrganizationDto extends UpdateOf(ChangeableOrganizationDto, {
  fixed: ['phone_region'],
}) {}

/** An organization, as events have it. */
export class OrganizationRecordDto extends RecordOf(CreateOrganizationDto) {
  @UnknownFieldsRule() unknown_fields: UnknownFields;
  @Flag({ ...SUSPENDED, required: true })
  suspended: boolean;
  @CreatedAt() created_at: Date;
}

/** An organization, as the operator sees it that has created it. */
export class OrganizationDto extends OrganizationRecordDto {
  @Flag({
    required: true,
    description: 'Whether it has ever had a key. If so, no first key can be created.',
    example: false,
  })
  has_had_key: boolean;
}

/** Fields of the first key of an organization. */
export class FirstKeyDto extends KeyLimitsDto {
  @Text({ ...NAME, description: 'What it is for.', example: 'First key' })
  name: string;
  @SomeOf(ORDINARY_SCOPES, {
    description:
      'What the key may do. Default: all scopes except those that a key has only if they are named.',
    example: ['leads:read', 'leads:write'],
  })
  scopes?: readonly Scope[] | null;
  @DateTime({ description: 'When it expires.', example: '2027-06-30T00:00:00.000Z' })
  expires_at?: Date | null;
  @Uuid({
    description: 'The author of records that the key creates.',
    example: '01a1fbdc-52c3-7b18-9a4f-2d1c7e6b5a43',
  })
  user_id?: string | null;
}

/** The fields of an organization that a key changes. */
class OwnSettingsDto extends PickOf(CreateOrganizationDto, ['time_zone'] as const) {
  @UnknownFieldsRule() unknown_fields: UnknownFields;
}

/** What a key changes of its organization. Fields that are left out keep their values. */
export class UpdateOwnOrganizationDto extends UpdateOf(OwnSettingsDto) {}

/** The organization of a key. */
export class OwnOrganizationDto extends RecordOf(CreateOrganizationDto) {
  @UnknownFieldsRule() unknown_fields: UnknownFields;
  @CreatedAt() created_at: Date;
  @Counts({
    description: 'Number of records of each kind that the key may read, otherwise null.',
    example: { appointments: 12, keys: null, leads: 340, tasks: 27 },
  })
  counts: Readonly<Record<string, number | null>>;
  @Nested(LimitsDto, { required: true, description: 'How many requests the key may make.' })
  limits: LimitsDto;
}
