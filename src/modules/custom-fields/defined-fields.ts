import type { FilterField, FilterKind } from '../../platform/data/filters/filter-target.js';
import type { DefinedFields } from '../../platform/data/filters/with-definitions.js';
import type { FieldType } from './custom-field.dto.js';
import { type FieldRule, hasOptions, isStored } from './field-rule.js';

/** The kinds of conditions, by the types of fields. */
const KINDS: Readonly<Record<FieldType, FilterKind>> = {
  ...{ text: 'text', number: 'number', boolean: 'flag', date: 'date', datetime: 'time' },
  ...{ select: 'one_of', multi_select: 'options' },
};

/** What filters need to know about the custom fields of an organization. */
export function definedFieldsOf(rules: readonly FieldRule[]): DefinedFields {
  return new Map(rules.map((rule) => [rule.key, filterFieldOf(rule)]));
}

function filterFieldOf(rule: FieldRule): FilterField {
  const { id, key, type, options } = rule;
  return {
    name: `custom_fields.${key}`,
    kind: KINDS[type],
    column: 'custom_fields',
    key,
    ...(hasOptions(type) && { values: options }),
    ...(isStored(rule) && { definitionId: id }),
  };
}
