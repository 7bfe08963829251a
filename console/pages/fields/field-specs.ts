import type { CustomField } from 'latitude/client';
import type { Conversion, FieldSpec } from '../../forms/kinds.js';
import { texts } from '../../texts.js';

const { labels, hints, types } = texts.fields;

type Option = CustomField['options'][number];

const BETWEEN = ' = ';

/** A line for each option: its value, and its label if it has one. */
const OPTIONS: Conversion = {
  toRaw: (value) =>
    ((value ?? []) as Option[])
      .map((option) =>
        option.label === null ? option.value : option.value + BETWEEN + option.label,
      )
      .join('\n'),
  toValue: (raw) =>
    (raw as string)
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const at = line.indexOf(BETWEEN);
        if (at < 0) return { value: line };
        return { value: line.slice(0, at), label: line.slice(at + BETWEEN.length) };
      }),
};

/** Whether lines would not tell the options apart. */
const isAmbiguous = ({ options }: CustomField) =>
  options.some(({ value }) => value.includes(BETWEEN) || value.includes('\n'));

/** The fields of a definition that people enter. @param stored the definition to change, whose key stays */
export function fieldSpecs(stored?: CustomField): readonly FieldSpec[] {
  const options = { name: 'options', label: labels.options } as const;
  return [
    ...(stored ? [] : [KEY]),
    ...ABOUT,
    stored && isAmbiguous(stored)
      ? { ...options, kind: 'json' }
      : { ...options, kind: 'long', hint: hints.options, conversion: OPTIONS },
    ...RULES,
  ];
}

const KEY: FieldSpec = {
  name: 'key',
  label: labels.key,
  kind: 'text',
  isRequired: true,
  hint: hints.key,
};

const ABOUT: readonly FieldSpec[] = [
  { name: 'label', label: labels.label, kind: 'text' },
  { name: 'description', label: labels.description, kind: 'long' },
  {
    name: 'type',
    label: labels.type,
    kind: 'choice',
    isRequired: true,
    options: Object.entries(types).map(([value, label]) => ({ value, label })),
  },
];

const RULES: readonly FieldSpec[] = (['required', 'unique', 'filterable'] as const).map((name) => ({
  name,
  label: labels[name],
  kind: 'checkbox',
}));
