import { PickOf, RecordOf, UpdateOf } from '../fields/field.js';
import {
  DateTime,
  Email,
  Flag,
  Integer,
  JsonObject,
  OneOf,
  Phone,
  Tags,
  Text,
} from '../fields/kinds.js';
import { ListQuery } from '../listing/list-query.js';

export const TEMPERATURES = ['cold', 'warm', 'hot'] as const;
export type Temperature = (typeof TEMPERATURES)[number];

export const SOURCES = ['manual', 'api', 'website', 'referral', 'import', 'other'] as const;
export type Source = (typeof SOURCES)[number];

const LEAD_SORTS = ['created_at', 'updated_at', 'first_name', 'last_name', 'lead_score'] as const;

/** What a lead is created from (api.md 2.1, decisions 3). */
export class CreateLeadDto {
  @Text({ max: 100, required: true }) first_name: string;
  @Text({ max: 100 }) last_name?: string | null;
  @Phone() phone?: string | null;
  @Email() email?: string | null;
  @Text({ max: 200 }) company?: string | null;
  @Text({ max: 200 }) address_street?: string | null;
  @Text({ max: 100 }) city?: string | null;
  @Text({ max: 2 }) state?: string | null;
  @Text({ max: 10 }) zip?: string | null;
  @Text({ max: 50 }) status?: string | null;
  @OneOf(TEMPERATURES) temperature?: Temperature | null;
  @OneOf(SOURCES, { default: 'api' }) source?: Source;
  @Text({ max: 5000 }) notes?: string | null;
  @Tags() tags?: string[];
  @JsonObject() custom_fields?: Record<string, unknown>;
  @Flag({ default: false }) sms_opted_out?: boolean;
  @Flag({ default: false }) on_dnc_list?: boolean;
}

/** What a lead may be changed by: only what is given changes. */
export class UpdateLeadDto extends UpdateOf(CreateLeadDto) {}

/** A lead as it is answered. */
export class LeadDto extends RecordOf(CreateLeadDto) {
  @Integer({ min: 0, max: 100 }) lead_score: number;
  @DateTime() created_at: Date;
  @DateTime() updated_at: Date;
}

/** A lead as it stands in a list (api.md 2.1). */
export class LeadListItemDto extends PickOf(LeadDto, [
  'id',
  'first_name',
  'last_name',
  'phone',
  'email',
  'status',
  'temperature',
  'lead_score',
  'company',
  'created_at',
  'updated_at',
]) {}

/** What a list of leads may be narrowed and sorted by (api.md 4.3). */
export class LeadListQuery extends ListQuery {
  @Text({ max: 50 }) status?: string;
  @OneOf(TEMPERATURES) temperature?: Temperature;
  @Text({ max: 100 }) search?: string;
  @DateTime({ rounding: 'up' }) created_after?: Date;
  @DateTime({ rounding: 'up' }) created_before?: Date;
  @OneOf(LEAD_SORTS, { default: 'created_at' }) sort_by: (typeof LEAD_SORTS)[number];
}
