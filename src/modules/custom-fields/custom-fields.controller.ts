import { Body, Delete, Get, Post, Put, Query, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import type { Call } from '../../platform/data/call.js';
import { ListQuery } from '../../platform/data/lists/list-query.js';
import { DeletedDto } from '../../platform/fields/deleted.dto.js';
import { type ApiRequest, CurrentCall } from '../../platform/http/request/api-request.js';
import { Id } from '../../platform/http/request/id.decorator.js';
import { IdempotentResponses } from '../../platform/http/response/write.interceptor.js';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { StoresResponse } from '../../platform/http/routes/handler-declarations.js';
import { CreateCustomFieldDto, CustomFieldDto, UpdateCustomFieldDto } from './custom-field.dto.js';
import { CustomFieldsService } from './custom-fields.service.js';

/** Definitions of custom fields over REST (docs/contract/custom-fields.md). */
@ApiController('custom-fields', 'Custom fields', 'What the custom fields of leads are.')
export class CustomFieldsController {
  constructor(
    private readonly fields: CustomFieldsService,
    private readonly responses: IdempotentResponses,
  ) {}

  @Get()
  @RequireScope('leads:read')
  @ApiRoute({ summary: 'List definitions of custom fields', response: [CustomFieldDto] })
  list(@CurrentCall() call: Call, @Query() query: ListQuery) {
    return this.fields.list(call, query);
  }

  @Get(':id')
  @RequireScope('leads:read')
  @ApiRoute({ summary: 'Get the definition of a custom field', response: CustomFieldDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.fields.get(call, id);
  }

  @Post()
  @StoresResponse()
  @RequireScope('fields:write')
  @ApiRoute({
    summary: 'Define a custom field',
    description: 'All stored leads must fit. A dry run only checks them.',
    response: CustomFieldDto,
    statuses: [200],
    errors: ['duplicate', 'definition_conflicts', 'too_many_custom_fields'],
  })
  async create(
    @CurrentCall() call: Call,
    @Body() field: CreateCustomFieldDto,
    @Req() request: ApiRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<CustomFieldDto> {
    if (field.dry_run) {
      response.status(200);
      return (await this.fields.complete(
        call,
        await this.fields.prepare(call, field),
      )) as CustomFieldDto;
    }
    const created = await this.responses.runPrepared(call, request, {
      prepare: () => this.fields.prepare(call, field),
      complete: (inner, prepared) => this.fields.complete(inner, prepared),
    });
    return created as CustomFieldDto;
  }

  @Put(':id')
  @RequireScope('fields:write')
  @ApiRoute({
    summary: 'Change the definition of a custom field',
    description: 'All stored leads must fit. A dry run only checks them.',
    response: CustomFieldDto,
    errors: ['definition_conflicts'],
  })
  update(@CurrentCall() call: Call, @Id() id: string, @Body() changes: UpdateCustomFieldDto) {
    return this.fields.update(call, id, changes);
  }

  @Delete(':id')
  @RequireScope('fields:write')
  @ApiRoute({
    summary: 'Delete the definition of a custom field',
    description: 'The values of leads stay.',
    response: DeletedDto,
  })
  delete(@CurrentCall() call: Call, @Id() id: string) {
    return this.fields.delete(call, id);
  }
}
