import {
  CreatedAt,
  DateTime,
  ListQuery,
  OneOf,
  RecordOf,
  SortBy,
  Text,
  UpdatedAt,
  UpdateOf,
  Uuid,
} from 'latitude';

const STATUSES = ['open', 'done'] as const;
export const SORTS = ['created_at'] as const;

type Status = (typeof STATUSES)[number];

export class CreateNoteDto {
  @Uuid({ required: true, description: 'The lead of the note.' })
  lead_id: string;

  @Text({ max: 500, required: true, description: 'The note.', example: 'Call back on Monday' })
  text: string;

  @OneOf(STATUSES, { default: 'open', description: 'Whether the note is done.', example: 'open' })
  status?: Status;
}

export class UpdateNoteDto extends UpdateOf(CreateNoteDto, { fixed: ['lead_id'] }) {}

export class NoteDto extends RecordOf(CreateNoteDto) {
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

export class NoteListQuery extends ListQuery {
  @OneOf(STATUSES, { description: 'Only notes with this status.', example: 'open' })
  status?: Status;

  @DateTime({ description: 'Only notes created at this time or later.', example: '2026-12-01' })
  created_after?: Date;

  @DateTime({ description: 'Only notes created before this time.', example: '2027-01-01' })
  created_before?: Date;

  @Text({ max: 100, description: 'Only notes that contain this text.', example: 'monday' })
  search?: string;

  @SortBy(SORTS, 'created_at') sort_by: (typeof SORTS)[number];
}
