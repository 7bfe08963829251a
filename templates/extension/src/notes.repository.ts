import { Injectable } from '@nestjs/common';
import {
  Conditions,
  leadExistsSql,
  type Page,
  RecordList,
  type Row,
  type Tenant,
  TenantDatabase,
  TenantRepository,
} from 'latitude';
import { NoteDto, NoteListQuery } from './notes.dto.js';
import { notesTable } from './notes.table.js';

/** SQL of notes. */
@Injectable()
export class NotesRepository extends TenantRepository<NoteDto> {
  private readonly items: RecordList<NoteDto>;

  constructor(database: TenantDatabase) {
    super(database, notesTable, NoteDto);
    this.items = new RecordList(database, {
      table: notesTable,
      item: NoteDto,
      query: NoteListQuery,
    });
  }

  list(tenant: Tenant, query: NoteListQuery): Promise<Page<NoteDto>> {
    const conditions = new Conditions(tenant, notesTable.notDeleted).equal('status', query.status);
    return this.items.page(conditions, query);
  }

  /** @returns undefined if the lead does not exist or is deleted */
  insert(tenant: Tenant, { lead_id, ...row }: Row & { lead_id: string }) {
    return this.insertIf(leadExistsSql('$1', '$2'), tenant, { lead_id, ...row });
  }
}
