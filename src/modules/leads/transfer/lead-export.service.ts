import { addAbortSignal, Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { namesOf } from '../../../platform/fields/field.js';
import { LeadDto } from '../lead.dto.js';
import { LeadsService } from '../leads.service.js';
import type { LeadExportQuery } from './lead-export.dto.js';
import { csvRow, escapeFormula } from './spreadsheet-cell.js';

/** How long an export may take. It holds a connection and a snapshot of the database. */
const MAX_MS = 600_000;

const COLUMNS = namesOf(LeadDto);

/** Writes leads as CSV or NDJSON (docs/contract/exports.md). */
@Injectable()
export class LeadExportService {
  constructor(private readonly leads: LeadsService) {}

  /**
   * Reads all leads that match, in one snapshot. The stream fails if they cannot all be read.
   * @param signal ends the stream with an error
   * @throws ApiError `overloaded`, `query_failed`
   */
  async export(call: Call, query: LeadExportQuery, signal: AbortSignal): Promise<Readable> {
    const ended = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]);
    const pages = this.leads.readSnapshot(call, query, ended);
    // The first page is read before the response begins, so that its error is a response of its own.
    const first = await pages.next();
    const write = query.format === 'csv' ? csvWriter(query) : LINES;
    return addAbortSignal(ended, Readable.from(textsOf(first, pages, write)));
  }
}

type Pages = AsyncGenerator<readonly string[], void>;

interface Writer {
  readonly head: string;
  /** @param json a lead */
  readonly line: (json: string) => string;
}

async function* textsOf(
  first: IteratorResult<readonly string[], void>,
  pages: Pages,
  { head, line }: Writer,
): AsyncGenerator<string, void> {
  try {
    if (head !== '') yield head;
    for (let page = first; !page.done; page = await pages.next()) {
      yield page.value.map(line).join('');
    }
  } finally {
    await pages.return();
  }
}

const LINES: Writer = { head: '', line: (json) => `${json}\n` };

function csvWriter({ escape }: LeadExportQuery): Writer {
  const cell = escape === 'formulas' ? escapeFormula : (text: string) => text;
  const line = (json: string) => {
    const lead = JSON.parse(json) as Record<string, unknown>;
    return csvRow(COLUMNS.map((name) => cell(textOf(lead[name]))));
  };
  return { head: csvRow(COLUMNS), line };
}

/** The cell of a value. Lists and objects are JSON, and empty if they are. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' && Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}
