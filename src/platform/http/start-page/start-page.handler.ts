import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Settings } from '../../config/settings.js';
import { serverUrlOf } from '../openapi/server-url.js';
import type { ApiRequest } from '../request/api-request.js';
import { refusalOfHeaders } from '../guards/headers.guard.js';
import { renderStartPage, startLinks, STYLE } from './start-page.js';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = { 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' };

/** Answers `GET /` and `HEAD /`: with HTML to browsers, and with JSON to other clients. */
export function startPage(settings: Settings): RequestHandler {
  const page = renderStartPage(settings);
  return function startPage(request, response, next) {
    // The guards of the catch-all route refuse the request.
    if (refusalOfHeaders(request as ApiRequest)) {
      next();
      return;
    }
    response.set(HEADERS).vary('Accept');
    if (request.accepts(['json', 'html']) === 'html') {
      response.set({
        'Content-Security-Policy': CONTENT_SECURITY_POLICY,
        'Referrer-Policy': 'no-referrer',
      });
      response.type('html').send(page);
    } else {
      const links = startLinks(settings, serverUrlOf(request));
      response.type('json').send(`${JSON.stringify(links, null, 2)}\n`);
    }
  };
}
