import type { Lead, LeadMerge, LeadMergePreview } from 'latitude/client';
import { type Column, Table } from '../../components/table.js';
import { Details, FieldValue } from '../../forms/details.js';
import type { FieldSpec } from '../../forms/kinds.js';
import { isSame, valueOf } from '../../forms/values.js';
import { texts } from '../../texts.js';
import { customFieldSpecs, LEAD_FIELDS, useCustomFields } from './lead-fields.js';

/** Of which lead the values of fields are. */
export type Prefer = NonNullable<LeadMerge['prefer']>;

interface MergeTableProps {
  readonly preview: LeadMergePreview;
  readonly prefer: Prefer;
  readonly onPrefer: (prefer: Prefer) => void;
}

const CUSTOM = { name: 'custom_fields', label: texts.leads.custom, kind: 'json' } as const;

/** Fields that keep the values of both leads, so that there is nothing to choose. */
const UNITED: readonly string[] = ['tags', 'notes', 'sms_opted_out', 'on_dnc_list'];

/** Both leads field by field, and the lead after the merge. Where the values differ, a person chooses. */
export function MergeTable({ preview, prefer, onPrefer }: MergeTableProps) {
  const { target, source, would_answer: merged } = preview;
  const custom = useSpecsOfBoth(target, source);
  const rows = [...LEAD_FIELDS, CUSTOM].filter(
    ({ name }) => hasValue(valueOf(target, name)) || hasValue(valueOf(source, name)),
  );
  const differs = ({ name }: FieldSpec) => {
    if (name !== CUSTOM.name) return !UNITED.includes(name) && isConflict(target, source, name);
    return custom.some((spec) => isConflict(target, source, spec.name));
  };
  const cellOf = (lead: Lead, spec: FieldSpec) =>
    spec.name === CUSTOM.name ? (
      <Details fields={custom} record={lead} />
    ) : (
      <FieldValue spec={spec} value={valueOf(lead, spec.name)} />
    );
  const side = (lead: Lead, which: 'target' | 'source', label: string): Column<FieldSpec> => ({
    name: which,
    label,
    cell: (spec) => {
      if (!differs(spec)) return cellOf(lead, spec);
      const chosen = (prefer as Readonly<Record<string, string>>)[spec.name] ?? 'target';
      return (
        <>
          <label class="choice">
            <input
              type="radio"
              name={`prefer ${spec.name}`}
              aria-label={`${spec.label}: ${label}`}
              checked={chosen === which}
              onChange={() => {
                onPrefer({ ...prefer, [spec.name]: which });
              }}
            />
            {texts.merge.take}
          </label>
          {cellOf(lead, spec)}
        </>
      );
    },
  });
  const columns: Column<FieldSpec>[] = [
    { name: 'field', label: texts.merge.field, cell: ({ label }) => label },
    side(target, 'target', texts.merge.target),
    side(source, 'source', texts.merge.source),
    { name: 'merged', label: texts.merge.result, cell: (spec) => cellOf(merged, spec) },
  ];
  return (
    <Table caption={texts.merge.title} columns={columns} rows={rows} keyOf={({ name }) => name} />
  );
}

/** The custom fields that any of the leads can have. */
function useSpecsOfBoth(target: Lead, source: Lead): readonly FieldSpec[] {
  const definitions = useCustomFields();
  const specs = [target, source].flatMap((lead) => customFieldSpecs(definitions, lead));
  const found = new Map(specs.map((spec) => [spec.name, spec]));
  return [...found.values()].filter(({ name }) =>
    [target, source].some((lead) => hasValue(valueOf(lead, name))),
  );
}

/** Whether both leads have a value, and not the same one. */
function isConflict(target: Lead, source: Lead, name: string): boolean {
  const [one, other] = [valueOf(target, name), valueOf(source, name)];
  return hasValue(one) && hasValue(other) && !isSame(one, other);
}

function hasValue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
