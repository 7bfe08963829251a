import { Flag, Integer, Text, Uuid } from '../../platform/fields/kinds/kinds.js';
import { TimeOf } from '../../platform/fields/kinds/record-fields.js';
import { Nested } from '../../platform/fields/nested.js';
import { AnyRecord, Names } from '../../platform/fields/kinds/output-kinds.js';
import { MAX_NAME_LENGTH } from '../auth/key.dto.js';
import { MAX_LIMIT } from '../../platform/data/lists/list-query.js';
import { MAX_REMINDER_MINUTES } from './remind-before-minutes.js';

/** The longest wait for an event, in seconds. Proxies close requests that take much longer. */
const MAX_WAIT_SECONDS = 25;

/** A value of `after` that stands for the last event. */
export const LATEST = 'latest';

/** Who changed a record. */
export class EventActorDto {
  @Text({
    max: 200,
    description: 'Id of the key; null for jobs and commands.',
    example: '01a1fbdc-3b7e-7d02-94c6-0a5b8f2e9d10',
  })
  key_id: string | null;

  @Text({
    max: MAX_NAME_LENGTH,
    description: 'Its name; null if it is no key of the organization.',
    example: 'n8n',
  })
  key_name: string | null;

  @Text({
    max: 20,
    description:
      '`api` through REST, `ai` through /mcp, `import` by an import; null for jobs and commands.',
    example: 'api',
  })
  channel: string | null;

  @Text({
    max: 128,
    description: 'The `X-Request-Id` of the request; null for jobs and commands.',
    example: '5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f',
  })
  request_id: string | null;

  @Text({
    max: 36,
    description: 'Id of the grant by which an application has changed the record, else null.',
    example: '01a1fbdc-7d11-7c3a-8f0e-2b6f7a1c9e54',
  })
  grant_id: string | null;

  @Text({
    max: 2_000,
    description: 'Id of this application: the URL of its metadata, or that of its registration.',
    example: 'https://claude.ai/oauth/client.json',
  })
  client_id: string | null;
}

/** The change of a record. */
export class EventDto {
  @Uuid({
    required: true,
    description: 'Unique, and in the order of events.',
    example: '019ad2c1-7c4e-71a3-8000-000000000000',
  })
  id: string;

  @Text({
    max: 100,
    required: true,
    description: 'What happened to which kind of record.',
    example: 'lead.updated',
  })
  type: string;

  @Flag({
    mayBeMissing: true,
    description:
      'Of events that time causes: whether the lead has neither opted out of text messages nor is on the do-not-call list. Only for readers with `leads:read`.',
    example: true,
  })
  contactable?: boolean;

  @Integer({
    min: 1,
    max: MAX_REMINDER_MINUTES,
    mayBeMissing: true,
    description: 'Of `appointment.starting`: how many minutes before the start it is due.',
    example: 60,
  })
  remind_before_minutes?: number;

  @TimeOf('When the record was changed.', { required: true })
  created_at: Date;

  @AnyRecord({
    description: 'The record after the change, as GET returns it. For a deletion, its last state.',
    example: { id: '01a1fbdc-1d0f-7a44-b0a5-6f6f0e3a8c21', first_name: 'Ada' },
  })
  record: Record<string, unknown>;

  @Names({
    description: 'The names of the fields whose values changed. Empty for creations and deletions.',
    example: ['email'],
  })
  changed: string[];

  @Nested(EventActorDto, { required: true, description: 'Who changed it.' })
  actor: EventActorDto;
}

/** The query parameters of lists of events. */
export class EventListQuery {
  @Text({
    max: 36,
    description:
      'Only events after this one: `meta.next` of the previous page or the id of an event. `latest` skips all published events. Without it, the list begins with the oldest event.',
    example: '019ad2c1-7c4e-71a3-8000-000000000000',
  })
  after?: string;

  @Integer({
    min: 1,
    max: MAX_LIMIT,
    default: 50,
    description: 'Most events on a page.',
    example: 50,
  })
  limit: number;
}

/** The query parameters of the feed. */
export class EventFeedQuery extends EventListQuery {
  @Text({
    max: 2_000,
    description: 'Only events of these types, separated by commas.',
    example: 'lead.created,lead.updated',
  })
  types?: string;

  @Integer({
    min: 0,
    max: MAX_WAIT_SECONDS,
    default: 0,
    description: 'How many seconds the request waits for an event if there is none.',
    example: 0,
  })
  wait: number;
}
