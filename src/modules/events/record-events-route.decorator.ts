import { applyDecorators, Get } from '@nestjs/common';
import type { CursorPage } from '../../platform/data/lists/page.js';
import type { HandlerDecorator } from '../../platform/discovery/handler-decorator.js';
import { RequireScope } from '../../platform/http/routes/access.js';
import { ApiRoute } from '../../platform/http/routes/api-route.decorator.js';
import { EventDto } from './event.dto.js';

/**
 * Declares the route of the events of one record (docs/contract/events.md#events-of-a-record). Its handler calls
 * `EventsService.ofRecord()`.
 * @param record such as `a lead`
 */
export function RecordEventsRoute(record: string): HandlerDecorator<CursorPage<EventDto>> {
  const route = ApiRoute({
    summary: `List the events of ${record}`,
    description: 'Who changed it and how, oldest first, also after its deletion.',
    response: [EventDto],
    paging: 'cursor',
    errors: ['cursor_expired'],
  }) as MethodDecorator;
  return applyDecorators(Get(':id/events'), RequireScope('events:read'), route);
}
