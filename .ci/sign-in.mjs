// Runs the built server with sign-in by OAuth, and signs in on its page as a browser without scripts does.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { withServer } from './server.mjs';

/**
 * Starts the server behind a proxy, whose address is the public URL.
 * @param use receives what `withServer` passes, with the public URL as `url`
 */
export async function withSignIn(use) {
  let target;
  const proxy = http.createServer((request, response) => {
    const { method, url, headers } = request;
    const passed = http.request(target + url, { method, headers });
    request.pipe(passed);
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${proxy.address().port}`;
  try {
    await withServer(
      async (server) => {
        target = server.url;
        return use({ ...server, url });
      },
      { OAUTH: 'on', PUBLIC_URL: url },
    );
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
}

/**
 * Opens the URL of an authorization, pastes the key and grants all scopes that the page offers.
 * @returns the response of the client to which the browser is redirected
 */
export async function grant(authorizationUrl, key) {
  const { origin } = new URL(authorizationUrl);
  const cookies = new Map();
  const request = async (url, form) => {
    const isClient = new URL(url).origin !== origin;
    const answer = await fetch(url, {
      method: form ? 'POST' : 'GET',
      body: form && new URLSearchParams(form),
      redirect: 'manual',
      headers: isClient ? {} : { Origin: origin, Cookie: [...cookies.values()].join('; ') },
    });
    if (isClient) return { answer };
    for (const cookie of answer.headers.getSetCookie()) {
      const [pair] = cookie.split(';', 1);
      cookies.set(pair.split('=', 1)[0], pair);
    }
    const location = answer.headers.get('location');
    return location ? request(new URL(location, url)) : { url, html: await answer.text() };
  };
  const page = await request(authorizationUrl);
  const offer = await request(page.url, [
    ['action', 'continue'],
    ['key', key],
  ]);
  const scopes = [...offer.html.matchAll(/name="scope" value="([^"]*)"/g)];
  assert.ok(scopes.length > 0, offer.html);
  const form = [['action', 'grant'], ...scopes.map(([, scope]) => ['scope', scope])];
  return (await request(page.url, form)).answer;
}
