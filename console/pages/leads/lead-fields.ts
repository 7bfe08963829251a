import type { CustomField, Lead } from 'latitude/client';
import type { FieldKind, FieldSpec } from '../../forms/kinds.js';
import { useQuery } from '../../state/query.js';
import { useMay } from '../../state/session.js';
import { texts, wordFor } from '../../texts.js';

const { labels } = texts.leads;

const choice = (name: keyof typeof labels, values: readonly string[]): FieldSpec => ({
  name,
  label: labels[name],
  kind: 'choice',
  options: values.map((value) => ({ value, label: wordFor(texts.leads.values, value) })),
});
const field = (name: keyof typeof labels, kind: FieldKind = 'text'): FieldSpec => ({
  name,
  label: labels[name],
  kind,
});

export const TEMPERATURE = choice('temperature', ['hot', 'warm', 'cold']);
export const SOURCE = choice('source', ['manual', 'api', 'website', 'referral', 'import', 'other']);

/** The fields of a lead that people enter. */
export const LEAD_FIELDS: readonly FieldSpec[] = [
  { ...field('first_name'), isRequired: true },
  field('last_name'),
  field('email', 'email'),
  field('phone', 'tel'),
  field('company'),
  field('status'),
  TEMPERATURE,
  { ...SOURCE, isRequired: true },
  field('address_street'),
  field('city'),
  field('state'),
  field('zip'),
  field('external_id'),
  { ...field('tags', 'lines'), hint: texts.form.linesHint },
  field('notes', 'long'),
  field('sms_opted_out', 'checkbox'),
  field('on_dnc_list', 'checkbox'),
];

/** The definitions of the custom fields of the organization; none for a key that may not read them. */
export function useCustomFields(): readonly CustomField[] {
  const mayRead = useMay()('leads:read');
  const { data } = useQuery(mayRead ? 'custom fields' : undefined, async (client, signal) => {
    const { data: fields } = await client.customFields.list({ limit: 100 }, { signal });
    return fields;
  });
  return data ?? [];
}

const KINDS: Readonly<Record<CustomField['type'], FieldKind>> = {
  text: 'text',
  number: 'number',
  boolean: 'flag',
  date: 'date',
  datetime: 'time',
  select: 'choice',
  multi_select: 'choices',
};

/** The fields of the definitions, and of the keys that a lead has without one. */
export function customFieldSpecs(definitions: readonly CustomField[], lead?: Lead): FieldSpec[] {
  const defined = definitions.map((definition): FieldSpec => {
    const { key, label, type, description, required, options } = definition;
    return {
      name: `custom_fields.${key}`,
      label: label ?? key,
      kind: KINDS[type],
      options: options.map((option) => ({
        value: option.value,
        label: option.label ?? option.value,
      })),
      isRequired: required,
      ...(description === null ? {} : { hint: description }),
    };
  });
  const known = new Set(definitions.map(({ key }) => key));
  const others = Object.entries(lead?.custom_fields ?? {}).filter(([key]) => !known.has(key));
  return [
    ...defined,
    ...others.map(([key, value]) => ({
      name: `custom_fields.${key}`,
      label: key,
      kind: typeof value === 'string' ? ('long' as const) : ('json' as const),
    })),
  ];
}
