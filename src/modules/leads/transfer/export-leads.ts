import { addAbortSignal, type Readable } from 'node:stream';
import type { Call } from '../../../platform/data/call.js';
import { namesOf } from '../../../platform/fields/field.js';
import { LeadDto } from '../lead.dto.js';
import type { LeadsService } from '../leads.service.js';
import type { LeadExportQuery } from './lead-export.dto.js';
import { csvRow, type Escape, linesOfPages } from './file-lines.js';

/** How long an export may take. It holds a connection and a snapshot of the database. */
const MAX_MS = 600_000;

const COLUMNS = namesOf(LeadDto);

/**
 * Writes all leads that match as CSV or NDJSON, from one snapshot (docs/contract/exports.md). The stream fails if they cannot
 * all be read.
 * @param signal ends the stream with an error
 * @throws ApiError `overloaded`, `query_failed`
 */
export async function exportLeads(
  leads: LeadsService,
  call: Call,
  query: LeadExportQuery,
  signal: AbortSignal,
): Promise<Readable> {
  const { signal: ended, stop } = timed(signal);
  const pages = leads.readSnapshot(call, query, ended);
  const isCsv = query.format === 'csv';
  const lineOf = (json: string) => (isCsv ? csvLine(json, query.escape) : `${json}\n`);
  try {
    const lines = await linesOfPages(isCsv ? csvRow(COLUMNS) : '', pages, lineOf);
    return addAbortSignal(ended, lines).once('close', stop);
  } catch (error) {
    stop();
    throw error;
  }
}

/**
 * A signal that also aborts after `MAX_MS`. The timer and the listener refer to its controller. Node can collect the signal
 * of `AbortSignal.timeout()` before it aborts if only `AbortSignal.any()` refers to it.
 */
function timed(signal: AbortSignal): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const abort = () => {
    controller.abort(signal.reason);
  };
  const timer = setTimeout(() => {
    controller.abort(new Error('the export has taken too long'));
  }, MAX_MS);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  const stop = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, stop };
}

/** @param json a lead */
function csvLine(json: string, escape: Escape): string {
  const lead = JSON.parse(json) as Record<string, unknown>;
  const cells = COLUMNS.map((name) => textOf(lead[name]));
  return csvRow(cells, escape);
}

/** The cell of a value. Lists and objects are JSON, and empty if they are. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' && Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}
