import type { Response } from 'express';
import type { ApiRequest } from '../../platform/http/request/api-request.js';
import type { RateWindow } from '../../platform/access/limits/rate-limit.storage.js';
import { remainingHits, setRateLimitHeaders } from '../../platform/access/limits/rate-limits.js';
import type { Call } from '../../platform/data/call.js';
import type { Session } from './sessions/session.js';
import type { UserInput } from './tools/confirmations.js';
import type { Messages } from './protocol/messages.js';

/** One POST to /mcp. */
export class McpCall {
  /** Undefined for messages without a session. */
  session?: Session;
  /**
   * The questions that the client can put to the user, and the answers that it has sent. Undefined in versions with
   * sessions.
   */
  input?: UserInput;
  /** The number of calls that were counted as reads or writes. */
  countedCalls = 0;
  /** The rate limit window that the response headers report. */
  private reportedWindow?: RateWindow;

  constructor(
    readonly call: Call,
    readonly request: ApiRequest,
    readonly response: Response,
    readonly messages: Messages,
  ) {}

  /** Notes that a call was counted, and reports its window. */
  readonly onCounted = (window: RateWindow): void => {
    this.countedCalls++;
    this.report(window);
  };

  /** Reports a window in the headers, unless an earlier one has fewer hits left. */
  readonly report = (window: RateWindow): void => {
    const reported = this.reportedWindow;
    if (reported && (reported.isBlocked || remainingHits(reported) < remainingHits(window))) return;
    this.reportedWindow = window;
    setRateLimitHeaders(this.response, window);
    if (window.isBlocked) this.response.setHeader('Retry-After', window.timeToExpire);
  };
}
