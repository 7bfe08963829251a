import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../platform/data/audit/audit-log.js';
import type { Call } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import type { Page } from '../../../platform/data/lists/page.js';
import { ApiError, validationError } from '../../../platform/errors/api-error.js';
import { orNotFound } from '../../../platform/errors/or-not-found.js';
import { defineJob } from '../../../platform/jobs/job.js';
import { JobsService } from '../../../platform/jobs/jobs.service.js';
import { FieldDefinitionsService } from '../../custom-fields/field-definitions.service.js';
import { ImportLinesRepository, type LineResult } from './import-lines.repository.js';
import { ignoredOf, type ImportStarter } from './lead-import.entity.js';
import type {
  ImportFormat,
  ImportResultsQuery,
  LeadImportDto,
  LeadImportListQuery,
  LeadImportQuery,
  RejectedLinesQuery,
} from './lead-import.dto.js';
import { LeadImportsRepository } from './lead-imports.repository.js';
import { csvRow, linesOfPages } from './file-lines.js';
import { rejectedCsv, rejectedNdjson } from './rejected-lines.js';
import { charsetOf, UTF8 } from './text-shape.js';
import { discardFile, type SentFile, type StoredFile, storeFile } from './store-file.js';

/** Carries out an import. It is repeated until the import has ended. */
export const IMPORT_LEADS = defineJob<{ importId: string }>('leads.import', {
  retries: 1_000_000_000,
  backoff: { delay: '1s', maxDelay: '1m' },
  concurrency: 2,
});

/** Imports of an organization that have not ended. Their files are stored. */
const MAX_ACTIVE = 10;

const RETRY_AFTER_SECONDS = 60;

const LINES_PER_PAGE = 500;

/** The rejected lines of an import as a file. */
export interface RejectedLines {
  readonly lines: Readable;
  readonly format: ImportFormat;
  readonly charset: string;
}

/** Imports of leads (docs/contract/imports.md). */
@Injectable()
export class LeadImportsService {
  constructor(
    private readonly repository: LeadImportsRepository,
    private readonly lines: ImportLinesRepository,
    private readonly jobs: JobsService,
    private readonly database: TenantDatabase,
    private readonly definitions: FieldDefinitionsService,
    private readonly audit: AuditLog,
  ) {}

  /** @throws ApiError `query_failed` */
  list(call: Call, query: LeadImportListQuery): Promise<Page<LeadImportDto>> {
    return this.repository.list(call, query);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  async get(call: Call, id: string): Promise<LeadImportDto> {
    return orNotFound(await this.repository.find(call, id), 'import');
  }

  /**
   * Stores a file, for `start` or `discard`.
   * @param isReplay whether its request was carried out before, so that no import will be started
   * @throws ApiError `validation_error`, `rate_limit_exceeded`, `create_failed`
   */
  async receive(
    call: Call,
    source: SentFile,
    format: ImportFormat,
    query: LeadImportQuery,
    isReplay = false,
  ): Promise<StoredFile> {
    if (!isReplay) await this.assertFree(call);
    const defined = await this.definitions.of(call);
    return storeFile(this.repository, call, source, format, { ...query, defined });
  }

  /** Removes a stored file, unless it has an import. It does not throw. */
  discard(call: Call, { id }: StoredFile): Promise<void> {
    return discardFile(this.repository, call, id);
  }

  /**
   * Creates the import of a stored file, and the job that carries it out.
   * @throws ApiError `validation_error`, `rate_limit_exceeded`, `create_failed`
   */
  start(call: Call, file: StoredFile, { dry_run }: LeadImportQuery): Promise<LeadImportDto> {
    return this.database.transaction(call, async (inner) => {
      await this.repository.lock(inner);
      await this.assertFree(inner);
      const { id, bytes, lines, first, plan } = file;
      if (!(await this.repository.isStored(inner, id, plan.storedBytes))) {
        const message = 'was removed, because the data of a person was erased while it was sent';
        throw validationError([{ field: 'body', message }]);
      }
      const stored = await this.repository.insertRow(inner, {
        ...{ id, status: 'pending', format: plan.format, mode: plan.mode, match_on: plan.matchOn },
        ...{ dry_run, ignored_columns: ignoredOf(plan.columns), bytes, lines },
        ...{ plan, starter: starterOf(call), position: first.offset, line: first.line },
      });
      await this.sendJob(inner, id);
      await this.audit.add(inner, ['import.created', id]);
      return orNotFound(stored, 'import');
    });
  }

  /**
   * Sends the job of an import. Jobs of an organization run in the order of their imports. Sent from the job itself, it makes
   * this job run again.
   * @throws ApiError `create_failed`
   */
  async sendJob(call: Call, importId: string): Promise<void> {
    const options = { key: importId, orderingKey: 'leads', runAgain: true };
    await this.jobs.send(call, IMPORT_LEADS, { importId }, options);
  }

  /**
   * Runs the next due job of the imports of an organization in this process, if there is one.
   * @throws ApiError `query_failed`, `create_failed`
   */
  runNextJob(call: Call): Promise<void> {
    return this.jobs.runNext(call, IMPORT_LEADS);
  }

  /**
   * Ends an import. The lines that were carried out stay. An import that has ended stays as it is.
   * @throws ApiError `not_found`, `create_failed`
   */
  async cancel(call: Call, id: string): Promise<LeadImportDto> {
    await this.repository.end(call, id, 'cancelled', 'It was cancelled.');
    return this.get(call, id);
  }

  /**
   * The rejected lines with their reasons, in the format, the encoding and with the delimiter of the file.
   * @throws ApiError `not_found`, `query_failed`
   */
  async rejected(call: Call, id: string, { escape }: RejectedLinesQuery): Promise<RejectedLines> {
    const plan = orNotFound(await this.repository.findPlan(call, id), 'import');
    const { format, text = UTF8 } = plan;
    const pages = pagesOf((after) => this.lines.findRejected(call, id, after, LINES_PER_PAGE));
    const { head, lineOf } = format === 'csv' ? rejectedCsv(plan, escape) : rejectedNdjson(plan);
    const lines = await linesOfPages(head, pages, lineOf, text);
    return { lines, format, charset: charsetOf(text) };
  }

  /**
   * What became of each line that was carried out or rejected.
   * @throws ApiError `not_found`, `query_failed`
   */
  async results(call: Call, id: string, { format }: ImportResultsQuery): Promise<Readable> {
    orNotFound(await this.repository.findPlan(call, id), 'import');
    const isCsv = format === 'csv';
    const lineOf = ({ line, action, id: lead }: LineResult) =>
      isCsv
        ? csvRow([String(line), action, lead ?? ''])
        : `${JSON.stringify({ line, action, id: lead })}\n`;
    const pages = pagesOf((after) => this.lines.findResults(call, id, after, LINES_PER_PAGE));
    return linesOfPages(isCsv ? csvRow(['line', 'action', 'id']) : '', pages, lineOf);
  }

  /** @throws ApiError `rate_limit_exceeded` if too many imports have not ended */
  private async assertFree(call: Call): Promise<void> {
    if ((await this.repository.countActive(call)) < MAX_ACTIVE) return;
    throw new ApiError('rate_limit_exceeded', {
      message: `The organization has ${MAX_ACTIVE} imports that have not ended.`,
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    });
  }
}

function starterOf(call: Call): ImportStarter {
  const { actor, requestId = null } = call;
  const key = { ...actor.key, expiresAt: actor.key.expiresAt?.toJSON() ?? null };
  return { key, scopes: [...actor.scopes], requestId };
}

/** Reads lines page by page. @param read returns the lines after a line */
async function* pagesOf<T extends { readonly line: number }>(
  read: (after: number) => Promise<T[]>,
): AsyncGenerator<T[], void> {
  let page: T[] = [];
  do {
    page = await read(page.at(-1)?.line ?? 0);
    yield page;
  } while (page.length > 0);
}
