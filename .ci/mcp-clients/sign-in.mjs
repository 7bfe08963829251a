// mcp-remote signs in to the built server: it knows only the URL, registers itself, opens the page in a browser, and
// passes the messages of its host to /mcp. A second start uses the tokens of the first.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { install } from '../server.mjs';
import { grant, withSignIn } from '../sign-in.mjs';

await install(import.meta.dirname);
const PROGRAM = path.join(import.meta.dirname, 'node_modules/mcp-remote/dist/proxy.js');

/** What mcp-remote prints for a person who has no browser on this machine. */
const AUTHORIZATION_URL = /(http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?\S+)/;

await withSignIn(async ({ url, key, directory }) => {
  const configuration = path.join(directory, 'mcp-remote');
  mkdirSync(configuration);
  const connect = async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, `${url}/mcp`],
      // No program opens a browser here.
      env: { PATH: '/nonexistent', MCP_REMOTE_CONFIG_DIR: configuration },
      stderr: 'pipe',
    });
    let printed = '';
    let isGranted = false;
    transport.stderr.on('data', (chunk) => {
      printed += chunk;
      const [, address] = AUTHORIZATION_URL.exec(printed) ?? [];
      if (!address || isGranted) return;
      isGranted = true;
      grant(address, key).catch((error) => {
        console.error(error);
        process.exitCode = 1;
      });
    });
    const client = new Client({ name: 'host', version: '1' });
    await client.connect(transport);
    return { client, hasSignedIn: () => isGranted };
  };
  const first = await connect();
  const { tools } = await first.client.listTools();
  assert.ok(tools.some(({ name }) => name === 'list_leads'));
  const { structuredContent } = await first.client.callTool({ name: 'list_leads', arguments: {} });
  assert.deepEqual(structuredContent.data, []);
  assert.ok(first.hasSignedIn());
  await first.client.close();
  const second = await connect();
  await second.client.listTools();
  assert.ok(!second.hasSignedIn(), 'mcp-remote has to keep its tokens');
  await second.client.close();
  console.log('mcp-remote: signed in by OAuth, listed leads, and kept its tokens');
});
// mcp-remote keeps the process alive.
process.exit();
