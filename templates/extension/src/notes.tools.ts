import { Injectable } from '@nestjs/common';
import { type Call, Tool } from 'latitude';
import { CreateNoteDto, NoteDto, NoteListQuery } from './notes.dto.js';
import { NotesService } from './notes.service.js';

/** Notes for AI agents. */
@Injectable()
export class NotesTools {
  constructor(private readonly notes: NotesService) {}

  @Tool('list_notes', {
    title: 'List notes',
    description: 'Find notes about leads.',
    effect: 'reads',
    scope: 'notes:read',
    input: NoteListQuery,
    output: [NoteDto],
  })
  list(call: Call, query: NoteListQuery) {
    return this.notes.list(call, query);
  }

  @Tool('create_note', {
    title: 'Create a note',
    description: 'Write a note about a lead.',
    effect: 'creates',
    scope: 'notes:write',
    input: CreateNoteDto,
    output: NoteDto,
  })
  create(call: Call, note: CreateNoteDto) {
    return this.notes.create(call, note);
  }
}
