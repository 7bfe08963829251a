/** Forbids resources of other origins, inline scripts and framing by other pages. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page. Its URLs are relative to work behind a proxy that adds a prefix. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Latitude: API reference</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
    <link rel="stylesheet" href="docs/reference.css" />
    <script src="docs/swagger-ui-bundle.js" defer></script>
    <script src="docs/start.js" type="module"></script>
  </head>
  <body>
    <div id="reference"></div>
    <noscript>This page needs JavaScript. Its source is the <a href="openapi.json">OpenAPI document</a>.</noscript>
  </body>
</html>
`;
