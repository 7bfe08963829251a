// Runs the scenarios of the conformance suite for authorization servers against the built server, and signs in as
// the suite asks for.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { grant, withSignIn } from '../sign-in.mjs';
import { SUITE } from './suite.mjs';

await withSignIn(async ({ url, key }) => {
  const port = await freePort();
  const registration = await fetch(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${port}/callback`] }),
  });
  const { client_id: clientId } = await registration.json();
  const options = [
    '--url',
    url,
    '--client-id',
    clientId,
    '--port',
    port,
    '--resource',
    `${url}/mcp`,
  ];
  const suite = spawn('npx', ['--yes', ...SUITE, 'conformance', 'authorization', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(suite, 'close');
  for await (const line of createInterface(suite.stdout)) {
    console.log(line);
    if (line.startsWith(`${url}/oauth/authorize?`)) await grant(line, key);
  }
  const [code] = await ended;
  if (code !== 0) process.exitCode = 1;
});

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
