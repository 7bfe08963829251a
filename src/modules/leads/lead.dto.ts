import { PHONE_CHARACTERS } from '../../platform/fields/kinds/email-and-phone.js';
import { PickOf, RecordOf, UpdateOf } from '../../platform/fields/field.js';
import {
  Email,
  Flag,
  Integer,
  JsonObject,
  OneOf,
  OptionalTags,
  Phone,
  Tags,
  Text,
} from '../../platform/fields/kinds/kinds.js';
import { AppendedNotes, MAX_NOTES } from '../../platform/fields/note-changes.js';
import { AddedTags, RemovedTags } from '../../platform/fields/tag-changes.js';
import { CreatedAt, UpdatedAt } from '../../platform/fields/kinds/record-fields.js';
import type { UntypedFilter } from '../../platform/data/filters/filter.js';
import { FilterBy } from '../../platform/data/filters/filter-parameter.js';
import { CountQueryOf } from '../../platform/data/lists/count.dto.js';
import type { Groupings } from '../../platform/data/lists/grouping.js';
import { Include, Includes } from '../../platform/data/lists/includes.js';
import { DeletedAt, ListDeleted } from '../../platform/data/lists/deleted-records.js';
import { filterTargetOf } from '../../platform/data/filters/filter-target.js';
import {
  After,
  Before,
  type FiltersOf,
  ItemFields,
  ListQuery,
  SortBy,
  TimeFilter,
  UpdatedAfter,
  UpdatedBefore,
} from '../../platform/data/lists/list-query.js';

export const TEMPERATURES = ['cold', 'warm', 'hot'] as const;
export type Temperature = (typeof TEMPERATURES)[number];

const SOURCES = ['manual', 'api', 'website', 'referral', 'import', 'other'] as const;
export type Source = (typeof SOURCES)[number];

export const LEAD_SORTS = [
  'created_at',
  'updated_at',
  'first_name',
  'last_name',
  'lead_score',
] as const;

/** The collation of the database is not needed: names are sorted and searched by `NAMES_COLLATION`. */
const NAME = { max: 100, column: { collation: 'C' } };

/** Fields of a new lead (docs/contract/resources.md#leads). */
export class CreateLeadDto {
  @Text({ ...NAME, required: true, description: 'Given name.', example: 'Grace' })
  first_name: string;
  @Text({ ...NAME, description: 'Family name.', example: 'Hopper' })
  last_name?: string | null;
  @Phone({
    description: `Phone number with an optional extension, such as x12. Consists of ${PHONE_CHARACTERS}, in any script and typography. Returned as given. Compared as E.164 with its extension where it can be read as a phone number of the region of the organization, by its digits otherwise; no two leads share it.`,
    example: '+1 415 555 0132',
  })
  phone?: string | null;
  @Email({
    description:
      'E-mail address. It has no spaces or invisible characters, and is returned as given. Compared without regard to case, in NFC and by IDNA; no two leads share it.',
    example: 'grace.hopper@example.com',
  })
  email?: string | null;
  @Text({ max: 200, description: 'Company.', example: 'Harbor Roofing' })
  company?: string | null;
  @Text({ max: 200, description: 'Street and house number.', example: '12 Pier Street' })
  address_street?: string | null;
  @Text({ max: 100, description: 'City.', example: 'Oakland' })
  city?: string | null;
  @Text({ max: 2, description: 'State, abbreviated.', example: 'CA' })
  state?: string | null;
  @Text({ max: 10, description: 'Postal code.', example: '94607' })
  zip?: string | null;
  @Text({ max: 50, description: 'Free text; lists filter by its exact value.', example: 'new' })
  status?: string | null;
  @OneOf(TEMPERATURES, { description: 'How likely the lead is to buy.', example: 'warm' })
  temperature?: Temperature | null;
  @OneOf(SOURCES, { default: 'api', description: 'Where it came from.', example: 'website' })
  source?: Source;
  @Text({ max: MAX_NOTES, description: 'Free text.', example: 'Prefers calls in the morning.' })
  notes?: string | null;
  @Tags({
    description: 'Labels; an update replaces all. Repetitions are removed, the order is kept.',
    example: ['roof', 'spring'],
  })
  tags?: string[];
  @JsonObject({
    description: 'Keys and JSON values; an update replaces all.',
    example: { budget: 12500, roof: { material: 'slate' } },
  })
  custom_fields?: Record<string, unknown>;
  @Flag({
    default: false,
    description: 'Opted out of text messages. The lead must not be sent any.',
    example: false,
  })
  sms_opted_out?: boolean;
  @Flag({
    default: false,
    description: 'Is on a do-not-call list. The lead must not be contacted.',
    example: false,
  })
  on_dnc_list?: boolean;
  @Text({
    max: 200,
    description: 'Id in the system that it comes from. Compared exactly; no two leads share it.',
    example: 'crm-4711',
  })
  external_id?: string | null;
}

/** Changes of a lead. Fields that are left out keep their values. */
export class UpdateLeadDto extends UpdateOf(CreateLeadDto) {
  @AddedTags() add_tags?: string[];
  @RemovedTags() remove_tags?: string[];
  @AppendedNotes() append_notes?: string;
}

/** A lead in responses. */
export class LeadDto extends RecordOf(CreateLeadDto) {
  @Integer({
    min: 0,
    max: 100,
    required: true,
    description: 'Computed from the other fields on every write; higher is more promising.',
    example: 80,
    column: { type: 'smallint' },
  })
  lead_score: number;
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

/** What filters of leads can name (docs/contract/filters.md). Tasks and appointments add their relations. */
export const LEADS = filterTargetOf('leads', LeadDto, {
  searchable: ['first_name', 'last_name', 'company', 'email', 'phone', 'city', 'zip'],
  indexed: [
    ...['id', 'email', 'phone', 'external_id', 'status', 'temperature', 'source', 'tags'],
    ...['lead_score', 'created_at', 'updated_at'],
  ],
  customFields: 'custom_fields',
});

/** A lead in a list (docs/contract/resources.md#leads). */
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

/** A deleted lead in a list (docs/contract/lists.md#deleted-records). */
export class DeletedLeadDto extends LeadListItemDto {
  @DeletedAt() deleted_at: Date;
}

/** What lists of leads can add. The modules of these records provide it. */
export const LEAD_INCLUDES = new Includes({
  next_appointment: 'appointments:read',
  open_task_count: 'tasks:read',
});

/** What lists of records that refer to a lead, and such a record, can add. */
export const INCLUDED_LEAD = { lead: 'leads:read' } as const;

/** Filters and sorting of lists of leads (docs/contract/lists.md#lead-filters) that the REST API and tools have. */
export class FindLeadsQuery extends ListQuery {
  @Text({
    max: 100,
    description:
      'Only leads whose name, company, e-mail or phone contains this. A name is the first, the last or the full one, in either order. Case and accents are ignored, and a phone is found by every spelling of it.',
    example: 'hopper',
  })
  search?: string;
  @Text({ max: 50, description: 'Only leads with exactly this status.', example: 'new' })
  status?: string;
  @OneOf(TEMPERATURES, { description: 'Only leads of this temperature.', example: 'warm' })
  temperature?: Temperature;
  @Text({ max: 200, description: 'Only the lead with this external id.', example: 'crm-4711' })
  external_id?: string;
  @TimeFilter('Only leads created at this time or later.', '2026-01-01T00:00:00Z')
  created_after?: Date;
  @TimeFilter('Only leads created before this time.', '2026-02-01T00:00:00Z')
  created_before?: Date;
  @FilterBy(LEADS, { source: { in: ['website', 'referral'] }, tasks: { none: { status: 'open' } } })
  filter?: UntypedFilter;
  @SortBy(LEAD_SORTS, 'created_at') sort_by: (typeof LEAD_SORTS)[number];
}

/** The parameters of lists of leads. */
export class LeadListQuery extends FindLeadsQuery {
  @OneOf(SOURCES, { description: 'Only leads from this source.', example: 'website' })
  source?: Source;
  @OptionalTags({
    description: 'Only leads with this tag, in any case. Repeated, only those with all of them.',
    example: ['roof'],
  })
  tag?: string[];
  @UpdatedAfter('leads') updated_after?: Date;
  @UpdatedBefore('leads') updated_before?: Date;
  @After() after?: string;

  @Before() before?: string;
  @ItemFields(LeadDto) fields?: readonly string[];
  @Include(LEAD_INCLUDES) include?: readonly string[];
  @ListDeleted('leads') deleted?: boolean;
}

/** What a list of leads selects, without its order and paging. */
export type LeadFilters = FiltersOf<LeadListQuery>;

/** By what leads are counted. */
export const LEAD_GROUPINGS = {
  status: { column: 'status' },
  temperature: { column: 'temperature' },
  source: { column: 'source' },
  tag: { column: 'tags', per: 'element' },
  city: { column: 'city' },
  created_day: { column: 'created_at', per: 'day' },
  created_week: { column: 'created_at', per: 'week' },
  created_month: { column: 'created_at', per: 'month' },
  custom_fields: { column: 'custom_fields', per: 'key' },
} as const satisfies Groupings;

/** The parameters of counts of leads. */
export class LeadCountQuery extends CountQueryOf(LeadListQuery, LEAD_GROUPINGS) {}
