import { LeadImports } from './lead-imports.js';
import { DeletableResource, recordOf, segmentOf } from './resource.js';
import type { Transport } from './transport.js';
import type {
  CallOptions,
  CreateOptions,
  Deleted,
  ErasedLead,
  Lead,
  LeadBatchItem,
  LeadCreate,
  LeadExportQuery,
  LeadListItem,
  LeadMerge,
  LeadQuery,
  LeadUpdate,
  LeadUpsert,
  PersonalData,
  UpsertedLead,
  WriteOptions,
} from './types.js';

interface LeadTypes {
  Record: Lead;
  Item: LeadListItem;
  Create: LeadCreate;
  Update: LeadUpdate;
  BatchItem: LeadBatchItem;
  Query: LeadQuery;
  Removed: Deleted;
}

/** Timeout of an export: the server gives it as much. */
const EXPORT_MS = 600_000;

/** Reads and writes of leads. */
export class Leads extends DeletableResource<LeadTypes> {
  readonly imports: LeadImports;

  constructor(transport: Transport, path: string, eventTypes: string) {
    super(transport, path, eventTypes);
    this.imports = new LeadImports(transport, `${path}/imports`);
  }

  /**
   * All leads that match, as CSV or NDJSON. The text is complete, or the call rejects. The default of `timeoutMs` is ten
   * minutes.
   */
  async export(query: LeadExportQuery = {}, options: CallOptions = {}): Promise<string> {
    const limits = { timeoutMs: EXPORT_MS, ...options };
    return this.transport.get(`${this.path}/export`, query, limits, { isFile: true });
  }

  /**
   * Updates the lead that has one of the values of `match_on`, or creates it. All attempts share one
   * `Idempotency-Key`.
   */
  async upsert(input: LeadUpsert, options?: CreateOptions): Promise<UpsertedLead> {
    const response = await this.post('/upsert', input, options);
    const { meta } = response.body as { meta: Pick<UpsertedLead, 'action'> };
    return { action: meta.action, record: recordOf<Lead>(response) };
  }

  /**
   * Merges the lead `lead_id` of the input into the lead `id`, and deletes it. All attempts share one
   * `Idempotency-Key`. `ifMatch` is the entity tag of the lead `id`.
   */
  async merge(id: string, input: LeadMerge, options?: CreateOptions & WriteOptions): Promise<Lead> {
    return recordOf(await this.post(`${segmentOf(id)}/merge`, input, options));
  }

  /** Everything that is stored about the person of a lead. */
  personalData(id: string, options?: CallOptions): Promise<PersonalData> {
    return this.read(`${segmentOf(id)}/personal-data`, options);
  }

  /** Erases the person of a lead, which cannot be undone. All attempts share one `Idempotency-Key`. */
  async erase(id: string, options?: CreateOptions): Promise<ErasedLead> {
    return recordOf(await this.post(`${segmentOf(id)}/erase`, {}, options));
  }
}
