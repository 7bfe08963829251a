// Third-party MCP clients behind one interface: `connect({ url, key })` resolves to an object with
// `list()`, the names of the tools; `call(name, args)`, the text that a model would read; and `close()`.
import { createMCPClient } from '@ai-sdk/mcp';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { MCPClient as MastraClient } from '@mastra/mcp';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { MCPServerStreamableHttp } from '@openai/agents';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { MCPClient as McpUseClient } from 'mcp-use/client';

const INSPECTOR = [
  '--yes',
  '--package=node@22',
  '--package=@modelcontextprotocol/inspector@2.12.0',
];
const CLIENT = { name: 'latitude-ci', version: '1.0.0' };

const textOf = ({ content }) => content.map(({ text }) => text).join('\n');
const headersOf = (key) => ({ Authorization: `Bearer ${key}` });

export const CLIENTS = {
  'SDK v1': ({ url, key }) =>
    connectSdk(
      new Client(CLIENT),
      new StreamableHTTPClientTransport(url, { requestInit: { headers: headersOf(key) } }),
    ),
  'client v2': (server) => connectV2(server, 'legacy'),
  'client v2, negotiating': (server) => connectV2(server, 'auto'),
  Inspector: connectInspector,
  'AI SDK': connectAiSdk,
  LangChain: connectLangChain,
  'OpenAI Agents': connectOpenAiAgents,
  Mastra: connectMastra,
  'mcp-use': connectMcpUse,
  'mcp-remote': connectMcpRemote,
};

async function connectSdk(client, transport) {
  await client.connect(transport);
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => textOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
}

function connectV2({ url, key }, mode) {
  const transport = new TransportV2(url, { requestInit: { headers: headersOf(key) } });
  return connectSdk(new ClientV2(CLIENT, { versionNegotiation: { mode } }), transport);
}

/** Its command line opens a connection for each request. */
async function connectInspector({ url, key }) {
  const run = async (...args) => {
    const header = `Authorization: Bearer ${key}`;
    const options = ['--cli', url.href, '--transport', 'http', '--header', header, ...args];
    const all = [...INSPECTOR, 'mcp-inspector', ...options];
    const { stdout } = await promisify(execFile)('npx', all).catch((error) => {
      if (error.stdout.trim().startsWith('{')) return error;
      throw new Error(`${error.stdout}${error.stderr}`, { cause: error });
    });
    return JSON.parse(stdout);
  };
  const list = async () => (await run('--method', 'tools/list')).tools.map(({ name }) => name);
  await list();
  return {
    list,
    call: async (name, args) => {
      const pairs = Object.entries(args).flatMap(([field, value]) => {
        return [
          '--tool-arg',
          `${field}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
        ];
      });
      return textOf(await run('--method', 'tools/call', '--tool-name', name, ...pairs));
    },
    close: () => undefined,
  };
}

async function connectAiSdk({ url, key }) {
  const transport = { type: 'http', url: url.href, headers: headersOf(key) };
  const client = await createMCPClient({ transport });
  const tools = await client.tools();
  return {
    tools,
    list: async () => Object.keys(await client.tools()),
    call: async (name, args) => textOf(await tools[name].execute(args, {})),
    close: () => client.close(),
  };
}

async function connectLangChain({ url, key }) {
  const server = { transport: 'http', url: url.href, headers: headersOf(key) };
  const client = new MultiServerMCPClient({ latitude: server });
  const tools = await client.getTools();
  return {
    tools,
    list: async () => (await client.getTools()).map(({ name }) => name),
    call: async (name, args) => {
      const content = await tools.find((tool) => tool.name === name).invoke(args);
      return typeof content === 'string' ? content : JSON.stringify(content);
    },
    close: () => client.close(),
  };
}

async function connectOpenAiAgents({ url, key }) {
  const requestInit = { headers: headersOf(key) };
  const server = new MCPServerStreamableHttp({ name: 'latitude', url: url.href, requestInit });
  await server.connect();
  return {
    server,
    list: async () => (await server.listTools()).map(({ name }) => name),
    call: async (name, args) => textOf({ content: await server.callTool(name, args) }),
    close: () => server.close(),
  };
}

async function connectMastra({ url, key }) {
  const requestInit = { headers: headersOf(key) };
  const client = new MastraClient({ servers: { latitude: { url, requestInit } } });
  const tools = await client.getTools();
  return {
    list: async () =>
      Object.keys(await client.getTools()).map((name) => name.replace('latitude_', '')),
    call: async (name, context) =>
      JSON.stringify(await tools[`latitude_${name}`].execute({ context })),
    close: () => client.disconnect(),
  };
}

async function connectMcpUse({ url, key }) {
  const server = { url: url.href, headers: headersOf(key) };
  const client = new McpUseClient({ mcpServers: { latitude: server } });
  const session = await client.createSession('latitude');
  return {
    list: async () => (await session.listTools()).map(({ name }) => name),
    call: async (name, args) => textOf(await session.callTool(name, args)),
    close: () => client.closeAllSessions(),
  };
}

function connectMcpRemote({ url, key }) {
  const program = path.join(import.meta.dirname, 'node_modules/.bin/mcp-remote');
  // Without the placeholder, some hosts split the header at its space.
  const args = [program, url.href, '--allow-http', '--header', 'Authorization:${AUTHORIZATION}'];
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, AUTHORIZATION: `Bearer ${key}` };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env,
    stderr: 'pipe',
  });
  let log = '';
  transport.stderr.on('data', (chunk) => (log += chunk));
  return connectSdk(new Client(CLIENT), transport).catch((error) => {
    throw new Error(`${error.message}\n${log}`, { cause: error });
  });
}
