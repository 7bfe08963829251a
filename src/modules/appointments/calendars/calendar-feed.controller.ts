import { Param, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import { RateLimits } from '../../../platform/access/limits/rate-limits.js';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import { isNotModified, knownVersions } from '../../../platform/http/response/envelope.js';
import { PublicPage } from '../../../platform/http/routes/access.js';
import { LatitudeController } from '../../../platform/http/routes/api-controller.decorator.js';
import { CalendarFeedService } from './calendar-feed.service.js';

/**
 * The addresses of calendars (docs/contract/booking.md#calendar-feed). The secret in the path is never logged, because only
 * the pattern of a route is.
 */
@LatitudeController('calendars')
export class CalendarFeedController {
  constructor(
    private readonly feeds: CalendarFeedService,
    private readonly limits: RateLimits,
  ) {}

  @PublicPage(':secret.ics', {
    'Content-Type': 'text/calendar; charset=utf-8',
    'Content-Disposition': 'inline; filename="calendar.ics"',
    'Cache-Control': 'private, no-cache',
  })
  async read(
    @Param('secret') secret: string,
    @Req() request: ApiRequest,
    @Res() response: Response,
  ): Promise<void> {
    await this.limits.countAddress(request.state.clientAddress ?? '', 'calendars');
    const { version, text } = await this.feeds.read(secret, knownVersions(request));
    const etag = `"${version}"`;
    response.setHeader('ETag', etag);
    if (text === undefined || isNotModified(request, etag)) response.status(304).end();
    else response.send(text);
  }
}
