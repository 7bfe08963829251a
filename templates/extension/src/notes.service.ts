import { Injectable } from '@nestjs/common';
import { type Call, leadNotFound, nullsForMissing, orNotFound, type Page } from 'latitude';
import { v7 as uuidv7 } from 'uuid';
import { CreateNoteDto, type NoteDto, type NoteListQuery, UpdateNoteDto } from './notes.dto.js';
import { NotesRepository } from './notes.repository.js';

/** The rules of notes. */
@Injectable()
export class NotesService {
  constructor(private readonly repository: NotesRepository) {}

  list(call: Call, query: NoteListQuery): Promise<Page<NoteDto>> {
    return this.repository.list(call, query);
  }

  async get(call: Call, id: string): Promise<NoteDto> {
    return orNotFound(await this.repository.find(call, id), 'note');
  }

  async create(call: Call, input: CreateNoteDto): Promise<NoteDto> {
    const row = { ...nullsForMissing(CreateNoteDto, input), id: uuidv7() };
    const created = await this.repository.insert(call, row);
    if (!created) throw leadNotFound('lead_id');
    return created;
  }

  async update(call: Call, id: string, input: UpdateNoteDto): Promise<NoteDto> {
    return orNotFound(await this.repository.update(call, id, input), 'note');
  }

  async delete(call: Call, id: string): Promise<{ id: string; deleted: true }> {
    orNotFound(await this.repository.delete(call, id), 'note');
    return { id, deleted: true };
  }
}
