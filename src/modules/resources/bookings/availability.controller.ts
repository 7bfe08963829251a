import { Get, HttpStatus, Query } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { CurrentCall } from '../../../platform/http/request/api-request.js';
import { RequireScope } from '../../../platform/http/routes/access.js';
import { ApiController } from '../../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../../platform/http/routes/api-route.decorator.js';
import { WithMeta } from '../../../platform/http/routes/with-meta.js';
import { AvailabilityDto, AvailabilityMetaDto, AvailabilityQuery } from './availability.dto.js';
import { AvailabilityService } from './availability.service.js';

/** Free times over REST (docs/contract/booking.md#availability). */
@ApiController('availability', 'Availability', 'Free times of resources.')
export class AvailabilityController {
  constructor(private readonly availability: AvailabilityService) {}

  @Get()
  @RequireScope('appointments:read')
  @ApiRoute({
    summary: 'Find free times',
    response: [AvailabilityDto],
    meta: AvailabilityMetaDto,
    errors: ['not_found'],
  })
  async find(@CurrentCall() call: Call, @Query() query: AvailabilityQuery) {
    const { from, to } = query;
    return new WithMeta(await this.availability.find(call, query), { from, to }, HttpStatus.OK);
  }
}
