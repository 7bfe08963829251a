import { Body, Controller, Get, Injectable, Module, Post, Query } from '@nestjs/common';
import { Column, type MigrationInterface, type QueryRunner } from 'typeorm';
import { v7 as uuidv7 } from 'uuid';
import { RequireScope } from '../../../../src/platform/http/routes/access.js';
import { InjectSetting } from '../../../../src/platform/config/config.module.js';
import { setting } from '../../../../src/platform/config/setting.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { TenantEntity } from '../../../../src/platform/data/records/tenant-entity.js';
import {
  createTenantTable,
  dropTenantTable,
} from '../../../../src/platform/data/records/tenant-table.js';
import { TenantRepository } from '../../../../src/platform/data/records/tenant-repository.js';
import { ApiError } from '../../../../src/platform/errors/api-error.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { IdDto } from '../../../../src/platform/fields/id.dto.js';
import { OneOf, Text, Uuid } from '../../../../src/platform/fields/kinds/kinds.js';
import { ApiRoute } from '../../../../src/platform/http/routes/api-route.decorator.js';
import { CurrentCall } from '../../../../src/platform/http/request/api-request.js';
import { Lead } from '../../../../src/modules/leads/lead.entity.js';
import { existingLeadsSql, leadNotFound } from '../../../../src/modules/leads/lead-exists.js';
import { ListQuery } from '../../../../src/platform/data/lists/list-query.js';
import { Conditions } from '../../../../src/platform/data/lists/conditions.js';
import { RecordList } from '../../../../src/platform/data/lists/record-list.js';
import type { Call } from '../../../../src/platform/data/call.js';

const STATUSES = ['open', 'done'] as const;

class CreateNoteDto {
  @Uuid({ required: true, description: 'The lead.', example: uuidv7() }) lead_id: string;
  @Text({ max: 200, required: true, description: 'The note.', example: 'Call back' }) text: string;
  @OneOf(STATUSES, { default: 'open', description: 'Whether it is done.' })
  status: (typeof STATUSES)[number];
}

class NoteDto extends IdDto {
  @Uuid({ required: true }) lead_id: string;
  @Text({ max: 200, required: true }) text: string;
  @OneOf(STATUSES, { required: true }) status: string;
}

class NoteListQuery extends ListQuery {
  @OneOf(STATUSES, { description: 'Only notes with this status.' }) status?: string;
}

@TenantEntity('notes', {
  counted: ['status'],
  sorts: ['due'],
  references: { lead_id: { entity: () => Lead, onDelete: 'cascade' } },
})
export class Note extends NoteDto {
  @Column({ type: 'date', nullable: true, select: false }) due?: string | null;
}

export class Notes1800000000000 implements MigrationInterface {
  up(runner: QueryRunner): Promise<void> {
    return createTenantTable(runner, Note, [
      'lead_id uuid not null',
      'text text not null',
      'status text not null',
      'due date',
    ]);
  }

  down(runner: QueryRunner): Promise<void> {
    return dropTenantTable(runner, Note);
  }
}

@Injectable()
class NotesRepository extends TenantRepository<Note> {
  private readonly items: RecordList<NoteDto>;

  constructor(database: TenantDatabase) {
    super(database, Note);
    this.items = new RecordList(database, { entity: Note });
  }

  list(call: Call, query: NoteListQuery) {
    return this.items.page(
      new Conditions(call, this.table.notDeleted).equal('status', query.status),
      query,
    );
  }

  insert(call: Call, { lead_id, text, status }: CreateNoteDto) {
    const row = { lead_id, id: uuidv7(), text, status };
    return this.insertRow(call, row, { lead_id: existingLeadsSql });
  }
}

@Controller('api/v1/notes')
class NotesController {
  constructor(
    private readonly notes: NotesRepository,
    @InjectSetting('NOTES_PROVIDER_URL') private readonly provider: string | undefined,
  ) {}

  @Get()
  @RequireScope('notes:read')
  @ApiRoute({ summary: 'List notes', response: [NoteDto] })
  list(@CurrentCall() call: Call, @Query() query: NoteListQuery) {
    return this.notes.list(call, query);
  }

  @Post()
  @RequireScope('notes:write')
  @ApiRoute({
    summary: 'Create a note',
    response: NoteDto,
    errors: ['provider_unavailable', 'lead_not_found'],
  })
  async create(@CurrentCall() call: Call, @Body() note: CreateNoteDto) {
    if (this.provider === 'https://down.example') throw new ApiError('provider_unavailable');
    const created = await this.notes.insert(call, note);
    if (!created) throw leadNotFound('lead_id');
    return created;
  }
}

@Module({ controllers: [NotesController], providers: [NotesRepository] })
class NotesModule {}

/** An extension with a part of each kind. */
export const notesExtension = defineExtension({
  name: 'acme-notes',
  compatibleWith: '^0.4',
  module: NotesModule,
  scopes: ['notes:read', 'notes:write'],
  errors: {
    provider_unavailable: {
      status: 502,
      retryable: true,
      message: 'The provider of notes does not respond.',
      advice: 'Repeat the call in a minute.',
    },
  },
  settings: { NOTES_PROVIDER_URL: setting.url({ optional: true }) },
  migrations: [Notes1800000000000],
  entities: [Note],
  commands: [
    (program, run) => {
      program
        .command('notes')
        .description('print the table of notes')
        .action(() => run(() => Promise.resolve({ table: 'notes' })));
    },
  ],
});

declare module '../../../../src/platform/config/registered-extensions.js' {
  interface RegisteredExtensions {
    'acme-notes': typeof notesExtension;
  }
}
