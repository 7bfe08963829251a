import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { toLoggedApiError } from '../../platform/http/error.filter.js';
import { type ApiRequest, routeOf } from '../../platform/http/request/api-request.js';
import { ROUTES } from './authorization-server.js';
import { PAGE_HEADERS, renderProblem } from './consent.page.js';
import { oauthErrorOf, pageProblemOf } from './oauth-errors.js';

/** Answers exceptions of the endpoints of OAuth: with a page in a browser, and otherwise with an error of OAuth. */
@Catch()
export class OAuthErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const response = http.getResponse<Response>();
    const error = toLoggedApiError(thrown, request.state.requestId, routeOf(request));
    request.state.errorCode = error.code;
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const isPage =
      request.path.startsWith(ROUTES.consent) || request.accepts(['json', 'html']) === 'html';
    response.status(error.status).set(error.headers);
    if (isPage)
      response
        .set(PAGE_HEADERS)
        .type('html')
        .send(renderProblem(pageProblemOf(error)));
    else response.set('Cache-Control', 'no-store').json(oauthErrorOf(error));
  }
}
