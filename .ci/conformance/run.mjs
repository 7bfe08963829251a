// Runs the conformance suite of the Model Context Protocol against /mcp of the built server, for one revision
// after the other.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { withServer } from '../server.mjs';
import { SUITE } from './suite.mjs';

const REVISIONS = ['2025-11-25', '2026-07-28'];

await withServer(async ({ key, url, directory }) => {
  const proxy = http.createServer(addKey(key, url)).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  for (const revision of REVISIONS) {
    await check(revision, `http://127.0.0.1:${proxy.address().port}`, directory);
  }
  proxy.close();
  proxy.closeAllConnections();
});

/** A proxy that adds the key to each request, because the suite has no option for it. */
function addKey(key, url) {
  return (request, response) => {
    const { method, headers } = request;
    const passed = http.request(url + request.url, {
      method,
      headers: { ...headers, authorization: `Bearer ${key}` },
    });
    request.pipe(passed);
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
  };
}

async function check(revision, url, directory) {
  const options = [
    ...['--url', `${url}/mcp`, '--requirements', revision],
    ...['--expected-failures', path.join(import.meta.dirname, `${revision}.yaml`)],
    ...['--output-dir', path.join(directory, revision)],
  ];
  const suite = spawn('npx', ['--yes', ...SUITE, 'conformance', 'server', ...options], {
    stdio: 'inherit',
  });
  const [code] = await once(suite, 'close');
  if (code !== 0) process.exitCode = 1;
}
