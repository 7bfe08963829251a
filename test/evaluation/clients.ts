import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { isCore } from '../support/mcp/tools.js';
import type { Client } from './assistant.js';

const SYNONYMS: Readonly<Record<string, string>> = {
  list: 'search',
  get: 'show',
  create: 'add',
  update: 'edit',
  delete: 'remove',
  cancel: 'revoke',
  count: 'tally',
};

const ORIGINALS = Object.fromEntries(
  Object.entries(SYNONYMS).map(([verb, other]) => [other, verb]),
);

/** Tools that tasks need and that are not core tools. */
const OTHERS = ['count_records', 'find_free_slots', 'hold_slot'];

/** Lists only the core tools, and those that count and book. */
export function ofTheCore(client: Client): Client {
  return {
    listTools: async () =>
      (await client.listTools()).filter((tool) => isCore(tool) || OTHERS.includes(tool.name)),
    call: (name, args) => client.call(name, args),
  };
}

/** Renames the tools in all texts and reverses their order. */
export function renamed(client: Client): Client {
  return {
    listTools: async () => rewrite((await client.listTools()).toReversed(), rename),
    call: async (name, args) => rewrite(await client.call(originalName(name), args), rename),
  };
}

/** Removes the descriptions of tools or of their arguments. */
export function withoutDescriptions(of: 'tools' | 'arguments') {
  const bare = (tool: Tool): Tool =>
    of === 'tools'
      ? { ...tool, description: undefined }
      : { ...tool, inputSchema: undescribed(tool.inputSchema) };
  return (client: Client): Client => ({
    listTools: async () => (await client.listTools()).map(bare),
    call: (name, args) => client.call(name, args),
  });
}

function undescribed<T>(schema: T): T {
  const drop = (name: string, value: unknown) =>
    name === 'description' && typeof value === 'string' ? undefined : value;
  return JSON.parse(JSON.stringify(schema, drop)) as T;
}

/** `list_leads` becomes `leads_search`. */
function rename(text: string): string {
  const names = new RegExp(`\\b(${Object.keys(SYNONYMS).join('|')})_([a-z]+)\\b`, 'g');
  return text.replace(names, (_, verb: string, noun: string) => `${noun}_${SYNONYMS[verb]}`);
}

function originalName(name: string): string {
  return name.replace(/^([a-z]+)_([a-z]+)$/, (_, noun: string, verb: string) => {
    return `${ORIGINALS[verb]}_${noun}`;
  });
}

function rewrite<T>(value: T, change: (json: string) => string): T {
  return JSON.parse(change(JSON.stringify(value))) as T;
}
