import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Settings } from '../config/settings.js';
import { VERSION } from '../config/version.js';
import { refusalOfHeaders } from './guards/access.guard.js';
import { serverUrlOf } from './openapi/server-url.js';
import type { ApiRequest } from './request/api-request.js';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid #8884; padding: 0.5rem 1rem 0.5rem 0; vertical-align: top; }
td:first-child { white-space: nowrap; }
pre { background: #8882; border-radius: 4px; overflow-x: auto; padding: 1rem; }
`;

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

/** The settings that switch pages off. */
type PublicPages = Pick<Settings, 'docs' | 'console' | 'metrics' | 'metricsPort'>;

/** The pages, each with the name of its link in JSON. */
function pagesOf({ docs, console, metrics, metricsPort }: PublicPages) {
  const page = (name: string, path: string, text: string) => ({ name, path, text });
  return [
    ...(console
      ? [page('console', 'console', 'Console. See and change records in the browser.')]
      : []),
    ...(docs ? [page('docs', 'docs', 'API reference. Try every request in the browser.')] : []),
    page('openapi', 'openapi.json', 'OpenAPI 3.1 document, for client generators.'),
    page('llms', 'llms.txt', 'The API as one text, for code assistants.'),
    page('health', 'health/ready', 'Whether the service is ready for requests.'),
    page('liveness', 'health/live', 'Whether the process responds.'),
    ...(metrics && metricsPort === undefined
      ? [page('metrics', 'metrics', 'Metrics for Prometheus.')]
      : []),
  ];
}

/** The JSON of `/`, with absolute links. */
function startLinks(settings: PublicPages, url: string): Readonly<Record<string, string>> {
  return {
    name: 'Latitude',
    version: VERSION,
    api: `${url}/api/v1`,
    mcp: `${url}/mcp`,
    ...Object.fromEntries(pagesOf(settings).map(({ name, path }) => [name, `${url}/${path}`])),
  };
}

/** Renders the page of `/`. Its links are relative to work behind a proxy that adds a prefix. */
function renderStartPage(settings: PublicPages): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Latitude</title>
    <link rel="icon" href="data:," />
    <style>${STYLE}</style>
  </head>
  <body>
    <h1>Latitude</h1>
    <p>A multi-tenant JSON API for leads, appointments and tasks. Version ${VERSION}.</p>
    <table>
      ${pagesOf(settings)
        .map(({ path, text }) => `<tr><td><a href="${path}">/${path}</a></td><td>${text}</td></tr>`)
        .join('\n      ')}
      <tr><td><code>/api/v1</code></td><td>The REST API. Send <code>Authorization: Bearer lat_…</code></td></tr>
      <tr><td><code>/mcp</code></td><td>The endpoint for AI agents: Model Context Protocol over Streamable HTTP, with the same header.</td></tr>
    </table>
    <h2>First request</h2>
    <p>The first start of the server prints a key. An operator creates more with <code>latitude keys create</code>.</p>
    <pre>curl -H "Authorization: Bearer $KEY" ADDRESS/api/v1/leads</pre>
  </body>
</html>
`;
}
