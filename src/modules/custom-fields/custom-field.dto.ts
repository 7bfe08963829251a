import { type Declaration, declareField, RecordOf, UpdateOf } from '../../platform/fields/field.js';
import { Flag, OneOf, Text } from '../../platform/fields/kinds/kinds.js';
import { CreatedAt, UpdatedAt } from '../../platform/fields/kinds/record-fields.js';
import { textRules } from '../../platform/fields/kinds/rules.js';
import { NestedList } from '../../platform/fields/nested.js';

export const FIELD_TYPES = [
  ...(['text', 'number', 'boolean', 'date', 'datetime'] as const),
  ...(['select', 'multi_select'] as const),
] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** Keys of custom fields have the same bounds. */
const MAX_KEY = 100;
const MAX_OPTIONS = 100;
const MAX_OPTION = 100;

/** Text that is compared code point for code point, and so not trimmed. */
function ExactText(max: number, declaration: Declaration<string>) {
  return declareField(declaration, {
    schema: { type: 'string', minLength: 1, maxLength: max },
    rules: textRules(1, max),
  });
}

/** A value that a `select` or `multi_select` can have. */
export class FieldOptionDto {
  @ExactText(MAX_OPTION, { required: true, description: 'The value.', example: 'slate' })
  value: string;
  @Text({ max: 200, description: 'What people read.', example: 'Slate' })
  label?: string | null;
}

/** What a definition says (docs/contract/custom-fields.md#fields). */
export class FieldDefinitionDto {
  @ExactText(MAX_KEY, {
    required: true,
    description: 'The key in `custom_fields`. It cannot be changed.',
    example: 'roof_age',
  })
  key: string;
  @Text({ max: 200, description: 'What people read.', example: 'Age of the roof' })
  label?: string | null;
  @Text({
    max: 1_000,
    description: 'What the field means.',
    example: 'In years, as the owner says.',
  })
  description?: string | null;
  @OneOf(FIELD_TYPES, {
    required: true,
    description: 'The type of the values.',
    example: 'number',
  })
  type: FieldType;
  @NestedList(FieldOptionDto, {
    max: MAX_OPTIONS,
    description: 'The values of a `select` or `multi_select`, each once.',
    example: [],
  })
  options?: readonly FieldOptionDto[];
  @Flag({ default: false, description: 'Whether a new lead needs a value.', example: false })
  required?: boolean;
  @Flag({ default: false, description: 'Whether no two leads share a value.', example: false })
  unique?: boolean;
  @Flag({
    default: false,
    description: 'Whether filters find values by an index.',
    example: true,
  })
  filterable?: boolean;
}

const DRY_RUN = {
  default: false,
  description: 'Whether nothing is stored, and only the stored leads are checked.',
  example: false,
};

/** Fields of a new definition. */
export class CreateCustomFieldDto extends FieldDefinitionDto {
  @Flag(DRY_RUN) dry_run?: boolean;
}

/** Changes of a definition. Fields that are left out keep their values. */
export class UpdateCustomFieldDto extends UpdateOf(CreateCustomFieldDto, { fixed: ['key'] }) {}

/** A definition in responses and lists. */
export class CustomFieldDto extends RecordOf(FieldDefinitionDto) {
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}
