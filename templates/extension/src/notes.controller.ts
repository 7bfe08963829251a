import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { type Call, ApiRoute, ApiTag, CurrentCall, DeletedDto, Id, RequireScope } from 'latitude';
import { CreateNoteDto, NoteDto, NoteListQuery, UpdateNoteDto } from './notes.dto.js';
import { NotesService } from './notes.service.js';

@Controller('api/v1/notes')
@ApiTag('Notes', 'Notes about leads.')
export class NotesController {
  constructor(private readonly notes: NotesService) {}

  @Get()
  @RequireScope('notes:read')
  @ApiRoute({ summary: 'List notes', response: [NoteDto] })
  list(@CurrentCall() call: Call, @Query() query: NoteListQuery) {
    return this.notes.list(call, query);
  }

  @Get(':id')
  @RequireScope('notes:read')
  @ApiRoute({ summary: 'Get a note', response: NoteDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.notes.get(call, id);
  }

  @Post()
  @RequireScope('notes:write')
  @ApiRoute({ summary: 'Create a note', response: NoteDto, errors: ['lead_not_found'] })
  create(@CurrentCall() call: Call, @Body() note: CreateNoteDto) {
    return this.notes.create(call, note);
  }

  @Put(':id')
  @RequireScope('notes:write')
  @ApiRoute({ summary: 'Update a note', response: NoteDto })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateNoteDto) {
    return this.notes.update(call, id, changes);
  }

  @Delete(':id')
  @RequireScope('notes:write')
  @ApiRoute({ summary: 'Delete a note', response: DeletedDto })
  delete(@CurrentCall() call: Call, @Id() id: string) {
    return this.notes.delete(call, id);
  }
}
