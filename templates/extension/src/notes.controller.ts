import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { type Actor, ApiRoute, ApiTag, Caller, DeletedDto, Id, RequireScope } from 'latitude';
import { CreateNoteDto, NoteDto, NoteListQuery, UpdateNoteDto } from './notes.dto.js';
import { NotesService } from './notes.service.js';

@Controller('api/v1/notes')
@ApiTag('Notes', 'Notes about leads.')
export class NotesController {
  constructor(private readonly notes: NotesService) {}

  @Get()
  @RequireScope('notes:read')
  @ApiRoute({ summary: 'List notes', response: [NoteDto] })
  list(@Caller() actor: Actor, @Query() query: NoteListQuery) {
    return this.notes.list(actor, query);
  }

  @Get(':id')
  @RequireScope('notes:read')
  @ApiRoute({ summary: 'Get a note', response: NoteDto })
  get(@Caller() actor: Actor, @Id() id: string) {
    return this.notes.get(actor, id);
  }

  @Post()
  @RequireScope('notes:write')
  @ApiRoute({ summary: 'Create a note', response: NoteDto, errors: ['lead_not_found'] })
  create(@Caller() actor: Actor, @Body() note: CreateNoteDto) {
    return this.notes.create(actor, note);
  }

  @Put(':id')
  @RequireScope('notes:write')
  @ApiRoute({ summary: 'Update a note', response: NoteDto })
  update(@Caller() actor: Actor, @Id() id: string, @Body() changes: UpdateNoteDto) {
    return this.notes.update(actor, id, changes);
  }

  @Delete(':id')
  @RequireScope('notes:write')
  @ApiRoute({ summary: 'Delete a note', response: DeletedDto })
  delete(@Caller() actor: Actor, @Id() id: string) {
    return this.notes.delete(actor, id);
  }
}
