import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import {
  Controller,
  Get,
  Header,
  HttpCode,
  type MessageEvent,
  Module,
  Post,
  Put,
  Redirect,
  Res,
  Sse,
  StreamableFile,
} from '@nestjs/common';
import type { Response } from 'express';
import { from, interval, map, type Observable, of } from 'rxjs';
import { AnyKey, RequireScope } from '../../../src/platform/http/routes/access.js';
import { CurrentCall } from '../../../src/platform/http/request/api-request.js';
import type { CreateLeadDto } from '../../../src/modules/leads/lead.dto.js';
import { LeadsModule } from '../../../src/modules/leads/leads.module.js';
import { LeadsService } from '../../../src/modules/leads/leads.service.js';
import type { Call } from '../../../src/platform/data/call.js';

/** The content of the files. */
export const CSV = 'name\nAda\n';
const ADA = {
  first_name: 'Ada',
  source: 'import',
  tags: [],
  custom_fields: {},
  sms_opted_out: false,
  on_dnc_list: false,
} as unknown as CreateLeadDto;

@Controller('api/v1/answers')
class ResponsesController {
  private calls = 0;

  constructor(private readonly leads: LeadsService) {}

  @Get('file')
  @AnyKey()
  file() {
    return new StreamableFile(Buffer.from(CSV), { type: 'text/csv', disposition: 'attachment' });
  }

  @Get('missing-file')
  @AnyKey()
  missingFile() {
    return new StreamableFile(createReadStream('/nowhere/secret.csv'), { type: 'text/csv' });
  }

  @Get('broken-file')
  @AnyKey()
  brokenFile() {
    return new StreamableFile(
      Readable.from(
        (function* () {
          yield Buffer.from('a part');
          throw new Error('secret');
        })(),
      ),
    );
  }

  @Get('text')
  @Header('Content-Type', 'text/csv')
  @AnyKey()
  text() {
    return CSV;
  }

  @Get('plain')
  @AnyKey()
  plain() {
    return 'Ada';
  }

  @Get('vendor')
  @Header('Content-Type', 'application/vnd.acme+json')
  @AnyKey()
  vendor() {
    return { name: 'Ada' };
  }

  @Get('buffer')
  @AnyKey()
  buffer() {
    return Buffer.from('Ada');
  }

  @Get('promise')
  @AnyKey()
  promise() {
    return Promise.resolve({ name: 'Ada' });
  }

  @Get('observable')
  @AnyKey()
  observable(): Observable<object> {
    return from([{ name: 'Ada' }, { name: 'Grace' }]);
  }

  @Get('nothing')
  @AnyKey()
  nothing(): void {
    // The handler has no result.
  }

  @Get('old')
  @Redirect('/api/v1/me', 301)
  @AnyKey()
  old(): void {
    // Nest redirects.
  }

  @Get('elsewhere')
  @Redirect('/api/v1/me')
  @AnyKey()
  elsewhere() {
    return { url: 'https://example.com/', statusCode: 307 };
  }

  @Sse('events')
  @AnyKey()
  events(): Observable<MessageEvent> {
    return of({ data: { name: 'Ada' } }, { data: 'bye', type: 'end' });
  }

  @Sse('endless')
  @AnyKey()
  endless(): Observable<MessageEvent> {
    return interval(10).pipe(map((data) => ({ data: { data } })));
  }

  @Post('nothing')
  @RequireScope('leads:write')
  async create(@CurrentCall() call: Call): Promise<void> {
    await this.leads.create(call, ADA);
  }

  @Post('empty')
  @HttpCode(204)
  @RequireScope('leads:write')
  async createQuietly(@CurrentCall() call: Call) {
    return this.leads.create(call, ADA);
  }

  @Post('accepted')
  @HttpCode(202)
  @RequireScope('leads:write')
  accept() {
    return { id: ++this.calls };
  }

  @Put('reset')
  @HttpCode(205)
  @RequireScope('leads:write')
  reset() {
    return { ignored: true };
  }

  @Post('file')
  @RequireScope('leads:write')
  async createFile(@CurrentCall() call: Call) {
    await this.leads.create(call, ADA);
    return new StreamableFile(Buffer.from(CSV));
  }

  @Post('written')
  @RequireScope('leads:write')
  async createWritten(@CurrentCall() call: Call, @Res() response: Response) {
    await this.leads.create(call, ADA);
    response.status(201).send('written');
  }
}

/** Routes of a team that respond in every way that Nest has. */
@Module({ imports: [LeadsModule], controllers: [ResponsesController] })
export class ResponsesModule {}
