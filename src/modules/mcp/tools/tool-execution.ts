import { Injectable } from '@nestjs/common';
import type { Call, InTransaction, Precondition } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import type { Page } from '../../../platform/data/lists/page.js';
import { versionOf } from '../../../platform/data/records/stored-record.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import { Idempotency } from '../../../platform/http/response/idempotency.js';
import type { StoredResponse } from '../../../platform/http/response/idempotency.repository.js';
import { idempotentRequest } from '../../../platform/http/response/idempotent-request.js';
import { ResourceRegistry } from '../resources/resource-registry.js';
import { Confirmations, type Subject } from './confirmations.js';
import { Previewed } from './previewed.js';
import type { ParsedArguments } from './tool-arguments.js';
import type { RegisteredTool } from './tool-registry.js';
import { compactPage } from './tool-result.js';

/** A valid call of a tool. */
export interface Execution {
  readonly tool: RegisteredTool;
  readonly parsed: ParsedArguments;
  /** The key of a retry, as the client sent it. Only tools that create or delete use it. */
  readonly key: unknown;
}

/** What a tool was asked to change has changed since the user was asked. */
class Outdated extends Error {}

/** Runs tools: at once, as a dry run, once for an idempotency key, and as the user has confirmed it. */
@Injectable()
export class ToolExecution {
  constructor(
    private readonly database: TenantDatabase,
    private readonly resources: ResourceRegistry,
    private readonly idempotency: Idempotency,
    private readonly confirmations: Confirmations,
  ) {}

  /** @returns the result of this call, or of an earlier one with the same idempotency key */
  async run(call: Call, execution: Execution): Promise<object> {
    const { tool, parsed } = execution;
    const { isPage, summary } = tool.declaration;
    if (parsed.dry_run) return this.dryRun(call, execution);
    if (requestOf(execution)) {
      const answer = async (inner: InTransaction<Call>) => (await perform(inner, execution)).result;
      return this.runOnce(call, execution, answer);
    }
    const shown = summary && shownOf(execution);
    const { result } = await perform(call, execution);
    return isPage ? compactPage(result as Page<object>, shown) : result;
  }

  /**
   * Runs a tool if the user has confirmed what it is about.
   * @param version of what the user has confirmed
   * @returns the result; or what the user is to be asked, if the user was not asked or it has changed since
   */
  async runIfConfirmed(
    call: Call,
    execution: Execution,
    version: string | undefined,
  ): Promise<{ readonly result: object } | Subject> {
    if (version !== undefined) {
      try {
        const answer = (inner: InTransaction<Call>) => this.performAs(version, inner, execution);
        return { result: await this.runOnce(call, execution, answer) };
      } catch (error) {
        const isChanged = error instanceof ApiError && error.code === 'precondition_failed';
        if (!isChanged && !(error instanceof Outdated)) throw error;
      }
    }
    return this.database.dryRun(call, async (inner) => {
      const request = requestOf(execution);
      const stored = request && (await this.idempotency.claim(inner, request));
      if (stored) return { result: fromStored(stored) };
      const { id } = execution.parsed;
      const found = await this.recordOf(inner, execution);
      const { preview, question } = await perform(inner, execution);
      const current = await this.confirmations.versionOf(found?.record, preview);
      return { id, question, version: current, ...(found?.isReadable && { record: found.record }) };
    });
  }

  private dryRun(call: Call, execution: Execution): Promise<object> {
    return this.database.dryRun(call, async (inner) => {
      const found = await this.recordOf(inner, execution);
      const { result, preview } = await perform(inner, execution);
      const record = found?.isReadable && { record: found.record };
      return { dry_run: true, would_answer: result, ...record, ...preview };
    });
  }

  /** @throws Outdated, or ApiError `precondition_failed`, if the tool is about another version */
  private async performAs(version: string, inner: InTransaction<Call>, execution: Execution) {
    const record = (await this.recordOf(inner, execution))?.record;
    const precondition = record && firstMetBy(versionOf(record), execution.parsed.id);
    const call = precondition ? { ...inner, precondition } : inner;
    const { result, preview } = await perform(call, execution);
    if ((await this.confirmations.versionOf(record, preview)) !== version) throw new Outdated();
    return result;
  }

  /** Runs a call in a transaction, once for its idempotency key. */
  private runOnce(
    call: Call,
    execution: Execution,
    answer: (inner: InTransaction<Call>) => Promise<object>,
  ): Promise<object> {
    const status = execution.tool.declaration.effect === 'creates' ? 201 : 200;
    const toStored = (result: object) => {
      return { status, location: null, etag: null, text: JSON.stringify(result) };
    };
    return this.idempotency.runOnce(call, requestOf(execution), { toStored, fromStored }, answer);
  }

  private async recordOf(call: Call, { tool, parsed: { id } }: Execution) {
    const { resource: kind } = tool.declaration;
    if (id === undefined || kind === undefined) return undefined;
    return this.resources.readUncounted(call, kind, id);
  }
}

/** A precondition that is compared when the record is locked for its first change. A tool can change it again. */
function firstMetBy(expected: string, id: string | undefined): Precondition {
  let wasMet = false;
  return {
    recordId: id?.toLowerCase(),
    isMetBy: (version) => (wasMet ||= version === expected),
  };
}

async function perform(call: Call, execution: Execution): Promise<Previewed> {
  const { tool, parsed } = execution;
  const { methodArguments } = parsed;
  const args = tool.declaration.summary
    ? [...methodArguments, shownOf(execution)]
    : methodArguments;
  return Previewed.of((await tool.run(call, ...args)) as object);
}

/** The fields that items of a page contain. */
function shownOf({ tool: { declaration }, parsed: { fields = [] } }: Execution): string[] {
  return [...new Set([...(declaration.summary ?? []), ...fields])];
}

/**
 * What an idempotency key stands for.
 * @returns undefined if the call has none, or the tool does not use it
 * @throws ApiError `validation_error`
 */
function requestOf({ tool: { declaration }, parsed, key }: Execution) {
  const { name, effect } = declaration;
  if (!(effect === 'creates' || effect === 'deletes')) return undefined;
  const { id, comparable } = parsed;
  return idempotentRequest(key, `tool ${name}`, id === undefined ? comparable : [id, comparable]);
}

function fromStored({ text }: StoredResponse): object {
  return JSON.parse(text) as object;
}
