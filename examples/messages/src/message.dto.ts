import { CreatedAt, ListQuery, OneOf, RecordOf, Text, UpdatedAt, Uuid } from 'latitude';

export const STATUSES = ['queued', 'sent', 'delivered', 'failed'] as const;
export type Status = (typeof STATUSES)[number];

export class CreateMessageDto {
  @Uuid({
    required: true,
    description: 'The lead that receives the message.',
    example: '01a1fbde-995e-72a3-a032-ab1c988b9794',
  })
  lead_id: string;

  @Text({ max: 500, required: true, description: 'What to say.', example: 'See you at nine.' })
  text: string;
}

export class MessageDto extends RecordOf(CreateMessageDto) {
  @OneOf(STATUSES, {
    required: true,
    description: 'Whether the SMS provider accepted and delivered the message.',
    example: 'sent',
  })
  status: Status;

  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

export class MessageListQuery extends ListQuery {
  @OneOf(STATUSES, { description: 'Only messages with this status.', example: 'failed' })
  status?: Status;

  @Uuid({
    description: 'Only messages to this lead.',
    example: '01a1fbde-995e-72a3-a032-ab1c988b9794',
  })
  lead_id?: string;
}
