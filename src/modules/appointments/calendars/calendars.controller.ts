import { Body, Delete, Get, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Settings } from '../../../platform/config/settings.js';
import type { Call } from '../../../platform/data/call.js';
import { ListQuery } from '../../../platform/data/lists/list-query.js';
import { DeletedDto } from '../../../platform/fields/deleted.dto.js';
import { serverUrlOf } from '../../../platform/http/openapi/server-url.js';
import { CurrentCall } from '../../../platform/http/request/api-request.js';
import { Id } from '../../../platform/http/request/id.decorator.js';
import { RequireScope } from '../../../platform/http/routes/access.js';
import { ApiController } from '../../../platform/http/routes/api-controller.decorator.js';
import { ApiRoute } from '../../../platform/http/routes/api-route.decorator.js';
import { CheckBody } from '../../../platform/http/routes/handler-declarations.js';
import { CalendarDto, CalendarWithAddressDto, CreateCalendarDto } from './calendar.dto.js';
import { CalendarsService } from './calendars.service.js';

/** The calendars of a resource over REST (docs/contract/booking.md#calendar-feed). */
@ApiController(
  'resources/:id',
  'Calendars',
  'Secret addresses at which calendar applications read the appointments of a resource.',
)
export class CalendarsController {
  constructor(
    private readonly calendars: CalendarsService,
    private readonly settings: Settings,
  ) {}

  @Get('calendars')
  @RequireScope('appointments:read')
  @ApiRoute({ summary: 'List the calendars of a resource', response: [CalendarDto] })
  list(@CurrentCall() call: Call, @Id() id: string, @Query() query: ListQuery) {
    return this.calendars.list(call, id, query);
  }

  @Get('calendars/:calendar_id')
  @RequireScope('appointments:read')
  @ApiRoute({ summary: 'Get a calendar', response: CalendarDto })
  get(@CurrentCall() call: Call, @Id() id: string, @Id('calendar_id') calendarId: string) {
    return this.calendars.get(call, id, calendarId);
  }

  @Post('calendar')
  @CheckBody(CalendarsService)
  @RequireScope('resources:write', 'appointments:read')
  @ApiRoute({
    summary: 'Create a calendar',
    description:
      'The address is shown only in this response. Whoever has it can read it without a key: `GET /calendars/{secret}.ics` is `text/calendar` with an `ETag`, or 304, 404, 422 `calendar_too_large`, 429.',
    response: CalendarWithAddressDto,
  })
  async create(
    @CurrentCall() call: Call,
    @Id() id: string,
    @Body() input: CreateCalendarDto,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { calendar, secret } = await this.calendars.create(call, id, input);
    response.setHeader('Location', `/api/v1/resources/${id}/calendars/${calendar.id}`);
    const origin = this.settings.publicUrl ?? serverUrlOf(request);
    return calendar.with({ url: `${origin}/calendars/${secret}.ics` });
  }

  @Delete('calendars/:calendar_id')
  @RequireScope('resources:write')
  @ApiRoute({
    summary: 'Revoke a calendar',
    description: 'Its address is no longer found.',
    response: DeletedDto,
  })
  delete(@CurrentCall() call: Call, @Id() id: string, @Id('calendar_id') calendarId: string) {
    return this.calendars.delete(call, id, calendarId);
  }
}
