import { sleep } from './deadline.js';
import { idempotencyKey, segmentOf } from './resource.js';
import type { Transport } from './transport.js';
import type {
  CallOptions,
  ImportFile,
  ImportResultsQuery,
  LeadImport,
  LeadImportListQuery,
  LeadImportOptions,
  Page,
  RejectedLinesQuery,
  WaitOptions,
} from './types.js';

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** Timeout of an upload: the server gives it as much. */
const UPLOAD_MS = 300_000;

const POLL_MS = 1_000;

/** Imports of leads. */
export class LeadImports {
  constructor(
    private readonly transport: Transport,
    private readonly path: string,
  ) {}

  /** One page of the imports, with its exact total. */
  async list(query: LeadImportListQuery = {}, options?: CallOptions): Promise<Page<LeadImport>> {
    return this.transport.send({ method: 'GET', path: this.path, query }, options);
  }

  async get(id: string, options?: CallOptions): Promise<LeadImport> {
    return this.transport.one({ method: 'GET', path: this.path + segmentOf(id) }, options);
  }

  /**
   * Sends a file. The import runs after the call, see `wait`. All attempts share one `Idempotency-Key`. The default of
   * `timeoutMs` is five minutes.
   */
  async create(file: ImportFile, options: LeadImportOptions = {}): Promise<LeadImport> {
    const { format = 'csv', query = {}, ...others } = options;
    const call = {
      method: 'POST',
      path: this.path,
      query,
      headers: { ...idempotencyKey(others), 'Content-Type': TYPES[format] },
      body: file,
    } as const;
    const timeoutMs = others.timeoutMs ?? UPLOAD_MS;
    return this.transport.one(call, { ...others, timeoutMs });
  }

  /** Ends an import. The lines that were carried out stay. */
  async cancel(id: string, options?: CallOptions): Promise<LeadImport> {
    const path = `${this.path}${segmentOf(id)}/cancel`;
    return this.transport.one({ method: 'POST', path, body: '{}' }, options);
  }

  /** Waits until an import has ended. @returns the import, whose `status` says how */
  async wait(id: string, { onProgress, ...options }: WaitOptions = {}): Promise<LeadImport> {
    for (;;) {
      const one = await this.get(id, options);
      onProgress?.(one);
      if (one.status !== 'pending' && one.status !== 'running') return one;
      await sleep(POLL_MS, [options.signal]);
    }
  }

  /** The rejected lines in the format of the file. */
  async rejected(
    id: string,
    query: RejectedLinesQuery = {},
    options?: CallOptions,
  ): Promise<string> {
    const path = `${this.path}${segmentOf(id)}/rejected`;
    return this.transport.send({ method: 'GET', path, query, isFile: true }, options);
  }

  /** The line, the action and the lead of each record so far, as CSV or NDJSON. */
  async results(
    id: string,
    query: ImportResultsQuery = {},
    options?: CallOptions,
  ): Promise<string> {
    const path = `${this.path}${segmentOf(id)}/results`;
    return this.transport.send({ method: 'GET', path, query, isFile: true }, options);
  }
}
