import type { Settings } from '../../config/settings.js';
import { VERSION } from '../../config/version.js';

export const STYLE = `
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid #8884; padding: 0.5rem 1rem 0.5rem 0; vertical-align: top; }
td:first-child { white-space: nowrap; }
pre { background: #8882; border-radius: 4px; overflow-x: auto; padding: 1rem; }
`;

/** The settings that switch pages off. */
type PublicPages = Pick<Settings, 'docs' | 'metrics'>;

interface Link {
  readonly path: string;
  readonly text: string;
}

/** The JSON of `/`, with absolute links. */
export function startLinks({ docs, metrics }: PublicPages, url: string) {
  return {
    name: 'Latitude',
    version: VERSION,
    api: `${url}/api/v1`,
    mcp: `${url}/mcp`,
    ...(docs && { docs: `${url}/docs` }),
    openapi: `${url}/openapi.json`,
    llms: `${url}/llms.txt`,
    health: `${url}/health/ready`,
    liveness: `${url}/health/live`,
    ...(metrics && { metrics: `${url}/metrics` }),
  };
}

/** Renders the page of `/`. Its links are relative to work behind a proxy that adds a prefix. */
export function renderStartPage({ docs, metrics }: PublicPages): string {
  const links: readonly Link[] = [
    ...(docs ? [{ path: 'docs', text: 'API reference. Try every request in the browser.' }] : []),
    { path: 'openapi.json', text: 'OpenAPI 3.1 document, for client generators.' },
    { path: 'llms.txt', text: 'The API as one text, for code assistants.' },
    { path: 'health/live', text: 'Whether the process responds.' },
    { path: 'health/ready', text: 'Whether the service is ready for requests.' },
    ...(metrics ? [{ path: 'metrics', text: 'Metrics for Prometheus.' }] : []),
  ];
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
      ${links.map(({ path, text }) => `<tr><td><a href="${path}">/${path}</a></td><td>${text}</td></tr>`).join('\n      ')}
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
