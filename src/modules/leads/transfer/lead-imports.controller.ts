import { Get, HttpCode, Post, Query, Req, StreamableFile } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { type ApiRequest, CurrentCall } from '../../../platform/http/request/api-request.js';
import { FileStream } from '../../../platform/http/request/file-stream.js';
import { Id } from '../../../platform/http/request/id.decorator.js';
import { IdempotentResponses } from '../../../platform/http/response/write.interceptor.js';
import { RequireScope } from '../../../platform/http/routes/access.js';
import { ApiController } from '../../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../../platform/http/routes/api-route.decorator.js';
import { NoBody, TakesFile } from '../../../platform/http/routes/handler-declarations.js';
import { EXPORT_TYPES } from './lead-export.dto.js';
import {
  type ImportFormat,
  ImportResultsQuery,
  LeadImportDto,
  LeadImportListQuery,
  LeadImportQuery,
  MAX_FILE_BYTES,
  RejectedLinesQuery,
} from './lead-import.dto.js';
import { LeadImportsService } from './lead-imports.service.js';

const FORMATS: Readonly<Record<string, ImportFormat>> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  // What browsers on Windows call a file of CSV.
  'application/vnd.ms-excel': 'csv',
};

const EXTENSIONS = {
  ...{ csv: 'text/csv', tsv: 'text/csv', txt: 'text/csv' },
  // The response says what they are.
  ...{ xls: 'text/csv', xlsx: 'text/csv', ods: 'text/csv', zip: 'text/csv', gz: 'text/csv' },
  ...{ ndjson: 'application/x-ndjson', jsonl: 'application/x-ndjson' },
};

/** Imports of leads over REST (docs/contract/imports.md). */
@ApiController('leads/imports', 'Leads', 'Prospective customers.')
export class LeadImportsController {
  constructor(
    private readonly imports: LeadImportsService,
    private readonly responses: IdempotentResponses,
  ) {}

  @Get()
  @RequireScope('leads:read')
  @ApiRoute({ summary: 'List imports', response: [LeadImportDto] })
  list(@CurrentCall() call: Call, @Query() query: LeadImportListQuery) {
    return this.imports.list(call, query);
  }

  @Post()
  @HttpCode(202)
  @TakesFile({ types: Object.keys(FORMATS), extensions: EXTENSIONS, maxBytes: MAX_FILE_BYTES })
  @RequireScope('leads:write', 'leads:read')
  @ApiRoute({
    summary: 'Import leads',
    description:
      'Stores the file. A job then creates and updates leads, and rejects invalid lines.',
    response: LeadImportDto,
  })
  async create(
    @CurrentCall() call: Call,
    @Query() query: LeadImportQuery,
    @FileStream() file: FileStream,
    @Req() request: ApiRequest,
  ): Promise<LeadImportDto> {
    const format = FORMATS[file.type] ?? 'csv';
    const isReplay = await this.responses.isStored(call, request);
    const stored = await this.imports.receive(call, file, format, query, isReplay);
    try {
      const content = `${file.type} ${stored.hash}`;
      const start = (inner: Call) => this.imports.start(inner, stored, query);
      const started = await this.responses.runWithFile(call, request, content, start);
      return started as LeadImportDto;
    } finally {
      // After an error, or if an earlier request with the same key has stored the file.
      await this.imports.discard(call, stored);
    }
  }

  @Get(':id')
  @RequireScope('leads:read')
  @ApiRoute({ summary: 'Get an import', response: LeadImportDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.imports.get(call, id);
  }

  @Get(':id/rejected')
  @RequireScope('leads:read')
  @ApiRoute({
    summary: 'Get the rejected lines of an import',
    description: 'In the format of the file, with the line and the reasons of each.',
    files: Object.values(EXPORT_TYPES),
  })
  async rejected(@CurrentCall() call: Call, @Id() id: string, @Query() query: RejectedLinesQuery) {
    const { lines, format, charset } = await this.imports.rejected(call, id, query);
    const type = format === 'csv' ? `text/csv; charset=${charset}` : EXPORT_TYPES[format];
    const disposition = `attachment; filename="rejected.${format}"`;
    return new StreamableFile(lines, { type, disposition });
  }

  @Get(':id/results')
  @RequireScope('leads:read')
  @ApiRoute({
    summary: 'Get the results of an import',
    description: 'The line, the action and the lead of each record so far.',
    files: Object.values(EXPORT_TYPES),
  })
  async results(@CurrentCall() call: Call, @Id() id: string, @Query() query: ImportResultsQuery) {
    const lines = await this.imports.results(call, id, query);
    const disposition = `attachment; filename="results.${query.format}"`;
    return new StreamableFile(lines, { type: EXPORT_TYPES[query.format], disposition });
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @NoBody()
  @RequireScope('leads:write', 'leads:read')
  @ApiRoute({
    summary: 'Cancel an import',
    description: 'The lines that were carried out stay.',
    response: LeadImportDto,
  })
  cancel(@CurrentCall() call: Call, @Id() id: string) {
    return this.imports.cancel(call, id);
  }
}
