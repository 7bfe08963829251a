import { DeletableResource, recordOf } from './resource.js';
import type {
  CallOptions,
  CreateOptions,
  Deleted,
  ErasedLead,
  Lead,
  LeadBatchItem,
  LeadCreate,
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

/** Reads and writes of leads. */
export class Leads extends DeletableResource<LeadTypes> {
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
    return recordOf(await this.post(`${this.segmentOf(id)}/merge`, input, options));
  }

  /** Everything that is stored about the person of a lead. */
  personalData(id: string, options?: CallOptions): Promise<PersonalData> {
    return this.read(`${this.segmentOf(id)}/personal-data`, options);
  }

  /** Erases the person of a lead, which cannot be undone. All attempts share one `Idempotency-Key`. */
  async erase(id: string, options?: CreateOptions): Promise<ErasedLead> {
    return recordOf(await this.post(`${this.segmentOf(id)}/erase`, {}, options));
  }
}
