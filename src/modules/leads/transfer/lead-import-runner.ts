import { randomUUID } from 'node:crypto';
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
import { csvRecords, type FileRecord, ndjsonRecords } from './file-records.js';
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

const KEY_ENDED = 'The key of the import has ended, or lacks a scope.';

const SUSPENDED = 'The organization was suspended.';

/** How long a job waits for another import of the organization, or for the lease of a process that has ended. */
const BUSY_DELAY = '5s';

/** The import was cancelled, or another process carries it out. */
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

  @JobHandler(IMPORT_LEADS)
  async import(call: Call, { importId }: { importId: string }, { attempt }: JobRun): Promise<void> {
    const hasRun = await this.run(call, importId, attempt > 1);
    if (!hasRun) await this.imports.sendJob(call, importId, BUSY_DELAY);
  }

  @OnDurableEvent('leads.suspended-imports', { types: [ORGANIZATION_UPDATED] })
  async cancelSuspended(call: Call, event: RecordedEvent): Promise<void> {
    if (!isSuspension(event)) return;
    await this.repository.cancelBegunBy(call, new Date(event.created_at), SUSPENDED);
  }

  @Job({ name: 'leads.import-clean-up', every: '1h', perOrganization: true })
  async cleanUp(call: Call): Promise<void> {
    await this.repository.removeOld(call);
  }

  /**
   * Carries out an import from its position on.
   * @param call of the organization
   * @param isRetry whether an earlier run has failed
   * @param onProgress receives the number of records of each portion
   * @returns false if another process or import has to end first
   * @throws ApiError `query_failed`, `create_failed`, `overloaded`; the import can be continued
   */
  async run(
    call: Call,
    id: string,
    isRetry = false,
    onProgress: (records: number) => void = () => undefined,
  ): Promise<boolean> {
    const running = await this.repository.claim(call, id, randomUUID());
    if (running === undefined) return true;
    if (running === 'busy') return false;
    try {
      await this.carryOut(call, running, isRetry ? SMALL_PORTION : PORTION, onProgress);
    } catch (error) {
      if (error instanceof ImportLost) return true;
      if (error instanceof ApiError && error.retryable) {
        await this.repository.release(call, running).catch(() => undefined);
        throw error;
      }
      logger.error({ err: error, import: id, organization: call.tenant.id }, 'an import failed');
      const reason =
        error instanceof FileLost ? 'Its file was removed.' : 'An unexpected error occurred.';
      await this.repository.end(call, id, 'failed', reason);
    }
    return true;
  }

  private async carryOut(
    call: Call,
    running: RunningImport,
    size: number,
    onProgress: (records: number) => void,
  ): Promise<void> {
    const { id } = running;
    const own = callOf(call, running.starter);
    for await (const portion of portionsOf(this.linesOf(call, running), size)) {
      if (this.isStopping) {
        await this.repository.release(call, running);
        await this.imports.sendJob(call, id);
        return;
      }
      if (!(await this.mayContinue(own))) {
        // Not `isSuspended`, which remembers for a moment that the organization was not suspended.
        const isActive = await this.organizations.find(call.tenant.id, IMPORT_LEADS.name);
        await this.repository.end(call, id, 'cancelled', isActive ? KEY_ENDED : SUSPENDED);
        return;
      }
      const startedAt = performance.now();
      await this.database.transaction(own, (inner) => this.runPortion(inner, running, portion));
      onProgress(portion.length);
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
    if (!(await this.repository.holds(inner, running))) throw new ImportLost();
    const { plan, dry_run: isDryRun } = running;
    const isMerged =
      plan.columns.some(({ target }) => target?.startsWith(CUSTOM)) ||
      plan.constants?.custom_fields !== undefined;
    const lines = portion.flatMap((line) => {
      const item = batchItemOf(line.item, plan);
      return item ? [{ line, item }] : [];
    });
    const items = lines.map(({ item }) => item);
    const options = { mergesCustomFields: isMerged, newLead: { source: SOURCE } };
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
      // Rejected lines are kept without the quotes of an export, which they get again.
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
function callOf({ tenant }: Call, { key, scopes, requestId }: ImportStarter): Call {
  const expiresAt = key.expiresAt === null ? null : new Date(key.expiresAt);
  const actor: Actor = { key: { ...key, expiresAt }, scopes: new Set(scopes), channel: 'import' };
  return { tenant, actor, ...(requestId !== null && { requestId }) };
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
