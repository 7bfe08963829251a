import { Module } from '@nestjs/common';
import { AccessModule } from '../../platform/access/access.module.js';
import { HttpModule } from '../../platform/http/http.module.js';
import { CustomFieldsController } from './custom-fields.controller.js';
import { CustomFieldsRepository } from './custom-fields.repository.js';
import { CustomFieldsService } from './custom-fields.service.js';
import { CustomFieldsTools } from './custom-fields.tools.js';
import { FieldDefinitionsService } from './field-definitions.service.js';
import { FieldRuleChanges } from './field-rule-changes.service.js';
import { FieldRulesRepository } from './field-rules.repository.js';
import { FieldValuesRepository } from './field-values.repository.js';

@Module({
  imports: [AccessModule, HttpModule],
  controllers: [CustomFieldsController],
  providers: [
    CustomFieldsRepository,
    FieldRulesRepository,
    FieldValuesRepository,
    FieldRuleChanges,
    CustomFieldsService,
    FieldDefinitionsService,
    CustomFieldsTools,
  ],
  exports: [FieldDefinitionsService],
})
export class CustomFieldsModule {}
