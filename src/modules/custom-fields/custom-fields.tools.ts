import { Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { outputField } from '../../platform/fields/kinds/output-kinds.js';
import { Tool } from '../mcp/tools/tool.decorator.js';
import { FieldDefinitionsService } from './field-definitions.service.js';

class DescribedFieldsDto {
  @outputField(
    { type: 'array', items: { type: 'object' } },
    { description: 'The definitions.', example: [] },
  )
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
