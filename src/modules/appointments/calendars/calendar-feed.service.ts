import { Injectable } from '@nestjs/common';
import { hashKey } from '../../../platform/access/api-key-format.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import { CalendarsRepository, MAX_ITEMS } from './calendars.repository.js';
import { renderCalendar } from './render-calendar.js';

/** The calendar at an address. */
export interface CalendarFeed {
  /** A hash of what it contains. */
  readonly version: string;
  /** Undefined if the reader has this version. */
  readonly text: string | undefined;
}

/** Reads calendars by their secret addresses (docs/contract/booking.md#calendar-feed). */
@Injectable()
export class CalendarFeedService {
  constructor(private readonly repository: CalendarsRepository) {}

  /**
   * @param known the versions that the reader has
   * @throws ApiError `not_found`, `calendar_too_large`, `query_failed`
   */
  async read(secret: string, known: readonly string[]): Promise<CalendarFeed> {
    const source = await this.repository.findBySecretHash(hashKey(secret));
    const found = source && (await this.repository.readContent(source, known));
    if (!found)
      throw new ApiError('not_found', { message: 'There is no calendar at this address.' });
    const { version, content } = found;
    if (!content) return { version, text: undefined };
    // A part of the appointments would look like all of them.
    if (content.items.length > MAX_ITEMS) throw new ApiError('calendar_too_large');
    return { version, text: await renderCalendar(content) };
  }
}
