import { Get, Query } from '@nestjs/common';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiController } from '../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { CurrentCall } from '../../platform/http/request/api-request.js';
import { ClientGone } from '../../platform/http/request/client-gone.decorator.js';
import type { Call } from '../../platform/data/call.js';
import { EventDto, EventFeedQuery } from './event.dto.js';
import { EventsService } from './events.service.js';

/** Events over REST (docs/contract/events.md). */
@ApiController('events', 'Events', 'What changed.')
export class EventsController {
  constructor(private readonly events: EventsService) {}

  @Get()
  @RequireScope('events:read')
  @ApiRoute({
    summary: 'List events',
    description:
      'The changes of records, oldest first, of the kinds that the key may read. `wait` keeps the request open until there is one.',
    response: [EventDto],
    paging: 'cursor',
    errors: ['cursor_expired'],
  })
  list(@CurrentCall() call: Call, @Query() query: EventFeedQuery, @ClientGone() gone: AbortSignal) {
    return this.events.feed(call, query, gone);
  }
}
