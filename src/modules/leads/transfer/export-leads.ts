import { addAbortSignal, type Readable } from 'node:stream';
import type { Call } from '../../../platform/data/call.js';
import { namesOf } from '../../../platform/fields/field.js';
import { LeadDto } from '../lead.dto.js';
import type { LeadsService } from '../leads.service.js';
import type { LeadExportQuery } from './lead-export.dto.js';
import { CUSTOM } from './column-names.js';
import { assertForCsv, csvRow, linesOfPages } from './file-lines.js';

/** How long an export may take. It holds a connection and a snapshot of the database. */
const MAX_MS = 600_000;

const COLUMNS = namesOf(LeadDto);

/** The keys that have columns of their own, which an import takes. */
type Keys = readonly string[];

/**
 * Writes all leads that match as CSV or NDJSON, from one snapshot (docs/contract/exports.md). The stream fails if they cannot
 * all be read.
 * @param signal ends the stream with an error
 * @param keys the custom fields that the organization has defined
 * @throws ApiError `validation_error` for options of CSV with NDJSON; `overloaded`, `query_failed`
 */
export async function exportLeads(
  leads: LeadsService,
  call: Call,
  query: LeadExportQuery,
  signal?: AbortSignal,
  keys: Keys = [],
): Promise<Readable> {
  const { format, escape, delimiter, bom: hasMark } = query;
  const isCsv = format === 'csv';
  if (!isCsv) assertForCsv({ delimiter, bom: hasMark ? hasMark : undefined });
  const { signal: ended, stop } = timed(signal);
  const pages = leads.readSnapshot(call, query, ended);
  const head = isCsv
    ? csvRow([...COLUMNS, ...keys.map((key) => CUSTOM + key)], 'none', delimiter)
    : '';
  const lineOf = (json: string) =>
    isCsv ? csvRow(cellsOf(json, keys), escape, delimiter) : `${json}\n`;
  try {
    const lines = await linesOfPages(head, pages, lineOf, { encoding: 'utf-8', hasMark });
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
function timed(signal?: AbortSignal): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const abort = () => {
    controller.abort(signal?.reason);
  };
  const timer = setTimeout(() => {
    controller.abort(new Error('the export has taken too long'));
  }, MAX_MS);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  const stop = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, stop };
}

/** @param json a lead */
function cellsOf(json: string, keys: Keys): string[] {
  const lead = JSON.parse(json) as Record<string, unknown>;
  const fields = new Map(Object.entries(lead.custom_fields as object));
  const defined = keys.map((key) => textOf(fields.get(key)));
  for (const key of keys) fields.delete(key);
  if (keys.length > 0) lead.custom_fields = Object.fromEntries(fields);
  return [...COLUMNS.map((name) => textOf(lead[name])), ...defined];
}

/** The cell of a value. Lists and objects are JSON, and empty if they are. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' && Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}
