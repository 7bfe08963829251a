import { Injectable } from '@nestjs/common';
import {
  Conditions,
  existingLeadsSql,
  type Page,
  RecordList,
  type Row,
  type TenantCall,
  TenantDatabase,
  TenantRepository,
} from 'latitude';
import { Note } from './note.entity.js';
import { type NoteDto, NoteListQuery } from './notes.dto.js';

/** SQL of notes. */
@Injectable()
export class NotesRepository extends TenantRepository<Note> {
  private readonly items: RecordList<Note>;

  constructor(database: TenantDatabase) {
    super(database, Note);
    this.items = new RecordList(database, { entity: Note, query: NoteListQuery });
  }

  list(call: TenantCall, query: NoteListQuery): Promise<Page<NoteDto>> {
    const conditions = new Conditions(call, this.table.notDeleted)
      .equal('status', query.status)
      .add('created_at >= ?', query.created_after)
      .add('created_at < ?', query.created_before);
    if (query.search !== undefined) {
      const term = conditions.parameter(query.search);
      conditions.search(`strpos(lower(text), lower(${term}::text)) > 0`);
    }
    return this.items.page(conditions, query);
  }

  /** @returns undefined if the lead does not exist or is deleted */
  insert(call: TenantCall, row: Row & { id: string; lead_id: string }) {
    return this.insertRow(call, row, { lead_id: existingLeadsSql });
  }
}
