import { Injectable } from '@nestjs/common';
import { type Actor, leadNotFound, nullsForMissing, orNotFound, type Page } from 'latitude';
import { v7 as uuidv7 } from 'uuid';
import { CreateNoteDto, type NoteDto, type NoteListQuery, UpdateNoteDto } from './notes.dto.js';
import { NotesRepository } from './notes.repository.js';

/** The rules of notes. */
@Injectable()
export class NotesService {
  constructor(private readonly repository: NotesRepository) {}

  list(actor: Actor, query: NoteListQuery): Promise<Page<NoteDto>> {
    return this.repository.list(actor.organization, query);
  }

  async get(actor: Actor, id: string): Promise<NoteDto> {
    return orNotFound(await this.repository.find(actor.organization, id), 'note');
  }

  async create(actor: Actor, input: CreateNoteDto): Promise<NoteDto> {
    const row = { ...nullsForMissing(CreateNoteDto, input), id: uuidv7() };
    const created = await this.repository.insert(actor.organization, row);
    if (!created) throw leadNotFound('lead_id');
    return created;
  }

  async update(actor: Actor, id: string, input: UpdateNoteDto): Promise<NoteDto> {
    return orNotFound(await this.repository.update(actor.organization, id, input), 'note');
  }

  async delete(actor: Actor, id: string): Promise<{ id: string; deleted: true }> {
    orNotFound(await this.repository.delete(actor.organization, id), 'note');
    return { id, deleted: true };
  }
}
