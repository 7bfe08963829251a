import { LeadImports } from './lead-imports.js';
import { MAX_LIMIT, RestorableResource, segmentOf } from './resource.js';
import type {
  CallOptions,
  CreateOptions,
  CursorPage,
  Deleted,
  ErasedLead,
  Lead,
  LeadBatchItem,
  LeadCountQuery,
  LeadCreate,
  LeadDuplicatesQuery,
  LeadExportQuery,
  LeadGroup,
  LeadListItem,
  LeadMerge,
  LeadMergeDryRun,
  LeadMergePreview,
  LeadQuery,
  LeadRelated,
  LeadUpdate,
  LeadUpsert,
  PersonalData,
  UpsertedLead,
  WriteOptions,
} from './types.js';

interface LeadTypes {
  Record: Lead;
  Item: LeadListItem & LeadRelated;
  Create: LeadCreate;
  Update: LeadUpdate;
  BatchItem: LeadBatchItem;
  Query: LeadQuery;
  CountQuery: LeadCountQuery;
  GetOptions: CallOptions;
  Removed: Deleted;
}

interface UpsertBody {
  data: Lead;
  meta: Pick<UpsertedLead, 'action'>;
}

/** Timeout of an export: the server gives it as much. */
const EXPORT_MS = 600_000;

/** Reads and writes of leads. */
export class Leads extends RestorableResource<LeadTypes> {
  readonly imports = new LeadImports(this.transport, `${this.path}/imports`);

  /**
   * All leads that match, as CSV or NDJSON. The text is complete, or the call rejects. The default of `timeoutMs` is ten
   * minutes.
   */
  async export(query: LeadExportQuery = {}, options: CallOptions = {}): Promise<string> {
    return this.readExport(query, options, true);
  }

  /** The same as a `Blob`, which browsers keep outside of the memory of the page. */
  async exportBlob(query: LeadExportQuery = {}, options: CallOptions = {}): Promise<Blob> {
    return this.readExport(query, options, 'blob');
  }

  private readExport<File>(
    query: LeadExportQuery,
    options: CallOptions,
    isFile: true | 'blob',
  ): Promise<File> {
    const call = { method: 'GET', path: `${this.path}/export`, query, isFile } as const;
    return this.transport.send(call, { ...options, timeoutMs: options.timeoutMs ?? EXPORT_MS });
  }

  /**
   * Updates the lead that has one of the values of `match_on`, or creates it. All attempts share one
   * `Idempotency-Key`.
   */
  async upsert(input: LeadUpsert, options?: CreateOptions): Promise<UpsertedLead> {
    const call = this.postOf('/upsert', input, options);
    const { data: record, meta } = await this.transport.send<UpsertBody>(call, options);
    return { action: meta.action, record };
  }

  /**
   * Merges the lead `lead_id` of the input into the lead `id`, and deletes it. All attempts share one
   * `Idempotency-Key`. `ifMatch` is the entity tag of the lead `id`. With `dry_run`, the merge is only checked.
   * @returns the lead `id`, or what would happen
   */
  merge(
    id: string,
    input: LeadMergeDryRun,
    options?: CreateOptions & WriteOptions,
  ): Promise<LeadMergePreview>;
  merge(id: string, input: LeadMerge, options?: CreateOptions & WriteOptions): Promise<Lead>;
  async merge(id: string, input: object, options?: CreateOptions & WriteOptions): Promise<unknown> {
    return this.transport.one(this.postOf(`${segmentOf(id)}/merge`, input, options), options);
  }

  /** Iterates over all groups of leads that are likely the same person. */
  async *duplicates(
    { after = '', limit = MAX_LIMIT }: LeadDuplicatesQuery = {},
    options?: CallOptions,
  ): AsyncGenerator<LeadGroup, void> {
    const path = `${this.path}/duplicates`;
    for (let next = after, hasMore = true; hasMore;) {
      const call = { method: 'GET', path, query: { after: next, limit } } as const;
      const { data, meta } = await this.transport.send<CursorPage<LeadGroup>>(call, options);
      yield* data;
      next = meta.next;
      hasMore = meta.has_more;
    }
  }

  /** Everything that is stored about the person of a lead. */
  async personalData(id: string, options?: CallOptions): Promise<PersonalData> {
    const path = `${this.path}${segmentOf(id)}/personal-data`;
    return this.transport.one({ method: 'GET', path }, options);
  }

  /** Erases the person of a lead, which cannot be undone. All attempts share one `Idempotency-Key`. */
  async erase(id: string, options?: CreateOptions): Promise<ErasedLead> {
    return this.transport.one(this.postOf(`${segmentOf(id)}/erase`, {}, options), options);
  }
}
