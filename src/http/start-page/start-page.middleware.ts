import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Settings } from '../../config/settings.js';
import { renderStartPage, STYLE } from './start-page.js';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves an HTML page at `/` to browsers. Other clients get a 404. */
export function startPage(settings: Settings): RequestHandler {
  const page = renderStartPage(settings);
  return function startPage(request, response, next) {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.path !== '/' || request.accepts(['json', 'html']) !== 'html') {
      next();
      return;
    }
    response
      .set({
        'Cache-Control': 'no-cache',
        'Content-Security-Policy': CONTENT_SECURITY_POLICY,
        'Referrer-Policy': 'no-referrer',
        Vary: 'Accept',
        'X-Content-Type-Options': 'nosniff',
      })
      .type('html')
      .send(page);
  };
}
