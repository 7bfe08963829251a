import { Body, Delete, Get, Post } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { DeletedDto } from '../../../platform/fields/deleted.dto.js';
import { CurrentCall } from '../../../platform/http/request/api-request.js';
import { Id } from '../../../platform/http/request/id.decorator.js';
import { RequireScope } from '../../../platform/http/routes/access.js';
import { ApiController } from '../../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../../platform/http/routes/api-route.decorator.js';
import { SingleInsert } from '../../../platform/http/routes/handler-declarations.js';
import { CreateHoldDto, HoldDto } from './hold.dto.js';
import { HoldsService } from './holds.service.js';

/** Holds over REST (docs/contract/endpoints.md#holds). */
@ApiController('holds', 'Holds', 'Times of resources that are kept while a person decides.')
export class HoldsController {
  constructor(private readonly holds: HoldsService) {}

  @Get(':id')
  @RequireScope('appointments:write')
  @ApiRoute({ summary: 'Get a hold', response: HoldDto })
  get(@CurrentCall() call: Call, @Id() id: string) {
    return this.holds.get(call, id).stored;
  }

  @Post()
  @SingleInsert()
  @RequireScope('appointments:write')
  @ApiRoute({
    summary: 'Hold the time of a resource',
    response: HoldDto,
    errors: ['not_found', 'too_many_holds', 'resource_inactive', 'slot_taken'],
  })
  create(@CurrentCall() call: Call, @Body() hold: CreateHoldDto) {
    return this.holds.create(call, hold).stored;
  }

  @Delete(':id')
  @RequireScope('appointments:write')
  @ApiRoute({ summary: 'Delete a hold', response: DeletedDto, description: 'Its time is free.' })
  delete(@CurrentCall() call: Call, @Id() id: string) {
    return this.holds.delete(call, id);
  }
}
