import { type Declaration, declareField, RecordOf, UpdateOf } from '../../platform/fields/field.js';
import { DateTime, Flag, OneOf, Text } from '../../platform/fields/kinds/kinds.js';
import { CreatedAt, TimeOf, UpdatedAt } from '../../platform/fields/kinds/record-fields.js';
import { isObject } from '../../platform/fields/kinds/json-object.js';
import { rule, textListRules, textRule, textRules } from '../../platform/fields/kinds/rules.js';
import { trimText } from '../../platform/fields/kinds/text.js';
import { isTargetUrl, URL_START } from './target-url.js';

const MAX_URL = 2_000;
const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 100;

/** Why an instance disables a webhook: the receiver answered 410, it failed for days, or its filter is not valid any more. */
export const FAILURE_REASONS = ['gone', 'failing', 'invalid_filter'] as const;

/** Why a webhook was disabled, other than by a key. A restore pauses it. */
export const DISABLED_REASONS = [...FAILURE_REASONS, 'restored'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

const URL_PROBLEM =
  'must be an http or https URL without user name and password, such as https://example.com/hook';

/** The address of a receiver. */
function TargetUrl(declaration: Declaration<string>) {
  return declareField(declaration, {
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_URL,
      pattern: URL_START,
    },
    rules: [
      ...textRules(1, MAX_URL),
      textRule('isTargetUrl', (text) => (isTargetUrl(text) ? undefined : URL_PROBLEM)),
    ],
    normalize: (value) => (typeof value === 'string' ? trimText(value) : value),
  });
}

/** Names, such as types of events, at least one and each once. @param what they are names of */
function SomeNames(what: string, declaration: Declaration<readonly string[]>) {
  const isNotEmpty = (value: unknown) => Array.isArray(value) && value.length > 0;
  const items = { type: 'string', minLength: 1, maxLength: MAX_NAME_LENGTH } as const;
  return declareField(declaration, {
    schema: { type: 'array', minItems: 1, maxItems: MAX_NAMES, items },
    rules: [
      ...textListRules(MAX_NAMES, MAX_NAME_LENGTH),
      rule('arrayNotEmpty', isNotEmpty, `must have at least one ${what}`),
    ],
    normalize: (value) => (Array.isArray(value) ? [...new Set(value)] : value),
  });
}

/** A filter, which the service reads, because the types of the webhook decide what it can name. */
function EventFilter(declaration: Declaration<object>) {
  const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0;
  return declareField(declaration, {
    schema: { type: 'object', additionalProperties: true },
    rules: [rule('isObject', isObject, 'must be an object')],
    normalize: (value) => (isEmpty(value) ? null : value),
  });
}

/** Fields of a new webhook (docs/contract/webhooks.md#webhooks). */
export class CreateWebhookDto {
  @TargetUrl({
    required: true,
    description: 'Where events are sent. Private addresses are refused.',
    example: 'https://example.com/hooks/latitude',
  })
  url: string;
  @SomeNames('type', {
    required: true,
    description: 'The types of events to send. The key must have the read scope of each.',
    example: ['lead.created', 'lead.updated'],
  })
  types: readonly string[];
  @SomeNames('field', {
    description:
      'Fields of the record: only updates that change any of them are sent, and creations with a value of any.',
    example: ['status', 'tags'],
  })
  changed?: readonly string[] | null;
  @EventFilter({
    description:
      'Only events whose record matches are sent. A filter without relations, as lists take it. All types are then of one kind of record.',
    example: { temperature: 'hot', or: [{ city: 'Oakland' }, { zip: { starts_with: '94' } }] },
  })
  filter?: object | null;
  @Text({ max: 500, description: 'Free text.', example: 'Synchronizes the newsletter.' })
  description?: string | null;
  @Flag({
    default: true,
    description:
      'Whether events are sent. Setting it to true also continues a webhook that was disabled.',
    example: true,
  })
  enabled?: boolean;
}

/** Changes of a webhook. Fields that are left out keep their values. */
export class UpdateWebhookDto extends UpdateOf(CreateWebhookDto) {}

/** A webhook in responses and lists. */
export class WebhookDto extends RecordOf(CreateWebhookDto) {
  @OneOf(DISABLED_REASONS, {
    description:
      'Why it was disabled: the receiver answered 410, failed for three days, a backup was restored, or its filter is not valid any more.',
    example: 'failing',
  })
  disabled_reason: DisabledReason | null;
  @TimeOf('When the first attempt failed after the last successful one.')
  failing_since: Date | null;
  @DateTime({
    description: 'Until when events are signed with the previous secret as well.',
    example: '2026-01-06T16:20:00.000Z',
  })
  previous_secret_expires_at: Date | null;
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

/** A webhook with its secret, which is shown once. */
export class WebhookWithSecretDto extends WebhookDto {
  @Text({
    max: 100,
    isSecret: true,
    description: 'The key of the signatures. It is never shown again, also not in a replay.',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=',
  })
  secret?: string;
}
