import { Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { PickOf } from '../../platform/fields/field.js';
import { Names } from '../../platform/fields/kinds/output-kinds.js';
import { NestedRecords } from '../../platform/fields/nested.js';
import { Tool } from '../mcp/tools/tool.decorator.js';
import { CustomFieldDto } from './custom-field.dto.js';
import { FieldDefinitionsService } from './field-definitions.service.js';

/** A definition of a custom field, without its record. */
class DescribedFieldDto extends PickOf(CustomFieldDto, [
  ...(['key', 'label', 'description', 'type'] as const),
  ...(['required', 'unique', 'filterable'] as const),
]) {
  @Names({ description: 'The values of a select or multi_select.', example: [] })
  options: readonly string[];
}

class DescribedFieldsDto {
  @NestedRecords(DescribedFieldDto, { description: 'The definitions.' })
  fields: readonly object[];
}

/** Describes the custom fields of leads to agents (docs/contract/custom-fields.md#programs-and-agents). */
@Injectable()
export class CustomFieldsTools {
  constructor(private readonly definitions: FieldDefinitionsService) {}

  @Tool('describe_fields', {
    title: 'Describe custom fields',
    description: 'Tell the keys, types and options of custom_fields that the organization defines.',
    effect: 'reads',
    scope: 'leads:read',
    brief: { result: ['fields'] },
    output: DescribedFieldsDto,
  })
  async describe(call: Call) {
    const rules = await this.definitions.of(call);
    const fields = rules.map(({ key, label, description, type, options, ...rule }) => ({
      ...{ key, label, description, type, options },
      ...{ required: rule.required, unique: rule.is_unique, filterable: rule.is_filterable },
    }));
    return { fields };
  }
}
