import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { isExpired } from '../../../platform/access/authenticator.js';
import type { BatchResultDto } from '../../../platform/data/batches/batch.dto.js';
import { KeyRevalidation } from '../../../platform/access/key-revalidation.js';
import { OrganizationCalls } from '../../../platform/access/organization-calls.service.js';
import { logger } from '../../../platform/config/logger.js';
import type { Actor, Call, InTransaction } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import type { JobRun } from '../../../platform/jobs/job.js';
import { Job, JobHandler } from '../../../platform/jobs/job.decorator.js';
import { isSuspension, ORGANIZATION_UPDATED } from '../../auth/organization-events.js';
import { OnDurableEvent } from '../../events/event-handler.decorator.js';
import type { RecordedEvent } from '../../events/recorded-event.js';
import { LeadBatchService } from '../lead-batch.service.js';
import { CUSTOM } from './column-names.js';
import { textOfCell } from './file-lines.js';
import { csvRecords, type FileRecord, ndjsonRecords, type Place } from './file-records.js';
import { batchItemOf, type ImportItem, itemOf, SOURCE } from './import-items.js';
import type { LineResult, RejectedLine } from './import-lines.repository.js';
import type { ImportPlan, ImportStarter } from './lead-import.entity.js';
import { LeadImportsRepository, type RunningImport } from './lead-imports.repository.js';
import { IMPORT_LEADS, LeadImportsService } from './lead-imports.service.js';
import { LineReasons } from './line-reasons.js';
import { CHUNK_BYTES } from './store-file.js';

/** Records that one transaction carries out. */
const PORTION = 100;

/** A portion ends when the records after its first one have this many bytes in the file. Parsed, they are much larger. */
const PORTION_BYTES = 1_048_576;

/** After a failed run, portions are small, so that one of them can succeed under load. */
const SMALL_PORTION = 10;

/** The pause after a portion in relation to its duration, so that requests are served meanwhile. */
const PAUSE = 0.25;

const KEY_ENDED = 'The key that started the import was revoked, has expired, or lacks a scope.';

const SUSPENDED = 'The organization was suspended.';

/** The import was cancelled, or another run of its job has stored the portion. */
class ImportLost extends Error {}

/** The stored file is not complete. */
class FileLost extends Error {}

type Line = Pick<FileRecord, 'line' | 'next' | 'cells'> & { readonly item: ImportItem };

/** Carries out imports in portions, and removes old ones. Each portion and its position are stored in one transaction. */
@Injectable()
export class LeadImportRunner implements OnModuleDestroy {
  private isStopping = false;

  constructor(
    private readonly imports: LeadImportsService,
    private readonly repository: LeadImportsRepository,
    private readonly batches: LeadBatchService,
    private readonly reasons: LineReasons,
    private readonly keys: KeyRevalidation,
    private readonly organizations: OrganizationCalls,
    private readonly database: TenantDatabase,
  ) {}

  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** Carries out an import from its position on. @throws ApiError that lets the job continue the import later */
  @JobHandler(IMPORT_LEADS)
  async import(call: Call, { importId }: { importId: string }, { attempt }: JobRun): Promise<void> {
    const running = await this.repository.begin(call, importId);
    if (!running) return;
    try {
      await this.carryOut(call, running, attempt > 1 ? SMALL_PORTION : PORTION);
    } catch (error) {
      if (error instanceof ImportLost) return;
      if (error instanceof ApiError && error.retryable) throw error;
      const organization = call.tenant.id;
      logger.error({ err: error, import: importId, organization }, 'an import failed');
      const reason =
        error instanceof FileLost ? 'Its file was removed.' : 'An unexpected error occurred.';
      await this.repository.end(call, importId, 'failed', reason);
    }
  }

  @OnDurableEvent('leads.suspended-imports', { types: [ORGANIZATION_UPDATED] })
  async cancelSuspended(call: Call, event: RecordedEvent): Promise<void> {
    if (!isSuspension(event)) return;
    await this.repository.cancelBegunBefore(call, new Date(event.created_at), SUSPENDED);
  }

  @Job({ name: 'leads.import-clean-up', every: '1h', perOrganization: true })
  async cleanUp(call: Call): Promise<void> {
    await this.repository.removeOld(call);
  }

  private async carryOut(call: Call, running: RunningImport, size: number): Promise<void> {
    const { id } = running;
    const starterCall = callOf(call, running.starter);
    let place: Place = running;
    for await (const portion of portionsOf(this.linesOf(call, running), size)) {
      // Another instance continues it.
      if (this.isStopping) return this.imports.sendJob(call, id);
      if (!(await this.mayContinue(starterCall))) {
        // Reads the database. `isSuspended` is cached for a moment.
        const isActive = await this.organizations.find(call.tenant.id, IMPORT_LEADS.name);
        await this.repository.end(call, id, 'cancelled', isActive ? KEY_ENDED : SUSPENDED);
        return;
      }
      const startedAt = performance.now();
      const begin = place;
      await this.database.transaction(starterCall, async (inner) => {
        if (!(await this.repository.lockAt(inner, id, begin))) throw new ImportLost();
        await this.runPortion(inner, running, portion);
      });
      place = portion.at(-1)?.next ?? place;
      await wait((performance.now() - startedAt) * PAUSE);
    }
    await this.repository.end(call, id, 'completed', null);
  }

  private async mayContinue({ actor }: Call): Promise<boolean> {
    if (isExpired(actor)) return false;
    const scopes = await this.keys.scopesOf(actor);
    return ['leads:read', 'leads:write'].every((scope) => scopes?.has(scope));
  }

  /** A dry run only stores what would happen. */
  private async runPortion(
    inner: InTransaction<Call>,
    running: RunningImport,
    portion: readonly Line[],
  ): Promise<void> {
    const { plan, dry_run: isDryRun } = running;
    const mergesCustomFields =
      plan.columns.some(({ target }) => target?.startsWith(CUSTOM)) ||
      plan.constants?.custom_fields !== undefined;
    const lines = portion.flatMap((line) => {
      const item = batchItemOf(line.item, plan);
      return item ? [{ line, item }] : [];
    });
    const items = lines.map(({ item }) => item);
    const options = { mergesCustomFields, newLead: { source: SOURCE } };
    const carryOut = (call: Call) => this.batches.runInTurn(call, items, options);
    const run = isDryRun ? this.database.dryRun(inner, carryOut) : carryOut(inner);
    const { results } = await run;
    // The results are those of the valid records, in their order.
    const done = new Map(results.map((result) => [lines[result.index]?.line, result]));
    const rejections = await this.rejectionsOf(inner, plan, portion, done);
    const { next } = portion.at(-1) ?? { next: running };
    const stored = lineResultsOf(portion, done, isDryRun);
    await this.repository.advance(inner, running, next, stored, rejections);
  }

  private async rejectionsOf(
    call: Call,
    plan: ImportPlan,
    portion: readonly Line[],
    done: ReadonlyMap<Line | undefined, BatchResultDto>,
  ): Promise<RejectedLine[]> {
    const rejected = portion.flatMap((line) => {
      const result = done.get(line);
      return !result || result.error ? [{ ...line, error: result?.error }] : [];
    });
    const reasons = await this.reasons.of(call, plan, rejected);
    return rejected.map(({ line, cells }, index) => ({
      line,
      cells,
      reason: reasons[index] ?? '',
    }));
  }

  private async *linesOf(call: Call, running: RunningImport): AsyncGenerator<Line> {
    const { plan } = running;
    const bytes = this.bytesOf(call, running);
    const records =
      plan.format === 'csv'
        ? csvRecords(bytes, plan.delimiter, running)
        : ndjsonRecords(bytes, running);
    for await (const record of records) {
      const { cells } = record;
      // An export puts a quote before cells that look like formulas. It is removed, because the file of rejected lines adds it
      // again.
      const isQuoted = plan.isEscaped && typeof cells !== 'string';
      const kept = isQuoted ? cells.map((cell) => textOfCell(cell, true)) : cells;
      yield { line: record.line, next: record.next, cells: kept, item: itemOf(record, plan) };
    }
  }

  /** The stored file from the position of the import on. */
  private async *bytesOf(
    call: Call,
    { id, offset, plan: { storedBytes } }: RunningImport,
  ): AsyncGenerator<Buffer> {
    for (let at = offset; at < storedBytes; at += CHUNK_BYTES - (at % CHUNK_BYTES)) {
      const chunk = await this.repository.findChunk(call, id, Math.floor(at / CHUNK_BYTES));
      // A record at the end of a file that is not complete would be cut off.
      const isWhole =
        chunk?.length === Math.min(CHUNK_BYTES, storedBytes - (at - (at % CHUNK_BYTES)));
      if (!chunk || !isWhole) throw new FileLost();
      yield chunk.subarray(at % CHUNK_BYTES);
    }
  }
}

/** The call of the records of an import: that of the request that has started it. */
function callOf({ tenant, traceparent }: Call, { key, scopes, requestId }: ImportStarter): Call {
  const expiresAt = key.expiresAt === null ? null : new Date(key.expiresAt);
  const actor: Actor = { key: { ...key, expiresAt }, scopes: new Set(scopes), channel: 'import' };
  return { tenant, actor, traceparent, ...(requestId !== null && { requestId }) };
}

/** What became of the lines that were not rejected. The leads that a dry run creates do not exist after it. */
function lineResultsOf(
  portion: readonly Line[],
  done: ReadonlyMap<Line | undefined, BatchResultDto>,
  isDryRun: boolean,
): LineResult[] {
  const undone = new Set<string | null>();
  return portion.flatMap((each) => {
    const { status = 'failed', id = null } = done.get(each) ?? {};
    if (status !== 'created' && status !== 'updated' && status !== 'unchanged') return [];
    if (isDryRun && status === 'created') undone.add(id);
    return [{ line: each.line, action: status, id: undone.has(id) ? null : id }];
  });
}

async function* portionsOf(lines: AsyncIterable<Line>, size: number): AsyncGenerator<Line[]> {
  let portion: Line[] = [];
  for await (const line of lines) {
    portion.push(line);
    const bytes = line.next.offset - (portion[0] ?? line).next.offset;
    if (portion.length < size && bytes < PORTION_BYTES) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}
