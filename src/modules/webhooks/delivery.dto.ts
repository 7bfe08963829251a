import { DateTime, Integer, OneOf, Text, Uuid } from '../../platform/fields/kinds/kinds.js';
import {
  CreatedAt,
  RecordId,
  TimeOf,
  UpdatedAt,
} from '../../platform/fields/kinds/record-fields.js';
import { ListQuery } from '../../platform/data/lists/list-query.js';

const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** How many bytes of a response are kept. */
export const MAX_RESPONSE_BYTES = 1_000;

/** One event for one webhook (docs/contract/webhooks.md#deliveries). */
export class DeliveryDto {
  @RecordId('delivery', '01a1fbe0-7c15-7e42-b6a1-95d3f08c4e10') id: string;
  @Uuid({
    required: true,
    description: 'The webhook.',
    example: '01a1fbdf-3b7e-7d19-8a54-0c6d5f1e2b77',
  })
  webhook_id: string;
  @Text({
    required: true,
    max: 100,
    description: 'The id of the event: the header webhook-id.',
    example: '01a1fbdd-52f0-7360-8000-000000000000',
    column: { collation: 'C' },
  })
  event_id: string;
  @Text({
    required: true,
    max: 100,
    description: 'The type of the event.',
    example: 'lead.updated',
  })
  type: string;
  @Uuid({
    required: true,
    description: 'The record that the event is about.',
    example: '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43',
  })
  record_id: string;
  @OneOf(DELIVERY_STATUSES, {
    required: true,
    description:
      'Whether it will be attempted (pending), was answered with 2xx (succeeded), or has no attempt left (failed).',
    example: 'pending',
    column: { default: 'pending' },
  })
  status: DeliveryStatus;
  @Integer({
    required: true,
    min: 0,
    max: 1_000,
    description: 'Attempts so far.',
    example: 1,
    column: { default: 0 },
  })
  attempts: number;
  @DateTime({
    description:
      'When it is attempted next. Null while it waits for an earlier event of the record.',
    example: '2026-01-05T16:20:02.000Z',
  })
  next_attempt_at: Date | null;
  @TimeOf('When it was last attempted.')
  last_attempt_at: Date | null;
  @Integer({
    min: 0,
    max: 1_000_000,
    description: 'Duration of the last attempt in milliseconds.',
    example: 38,
  })
  duration_ms: number | null;
  @Integer({
    min: 100,
    max: 999,
    description: 'Status of the answer to the last attempt. Null if there was none.',
    example: 503,
  })
  response_status: number | null;
  @Text({
    min: 0,
    max: MAX_RESPONSE_BYTES,
    description: 'Start of the answer to the last attempt.',
    example: 'try again later',
  })
  response_body: string | null;
  @Text({
    max: 500,
    description: 'Why the last attempt failed. Null if it succeeded.',
    example: 'The receiver answered 503.',
  })
  error: string | null;
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

/** Filters of the list of deliveries. */
export class DeliveryListQuery extends ListQuery {
  @OneOf(DELIVERY_STATUSES, { description: 'Only deliveries with this status.', example: 'failed' })
  status?: DeliveryStatus;
}
