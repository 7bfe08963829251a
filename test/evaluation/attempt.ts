import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { connectAgent } from '../support/mcp/agent.js';
import type { TestApp } from '../../src/testing/test-app.js';
import type { ProtocolMode } from '../support/mcp/mcp-sdk-clients.js';
import { Assistant, type Client, type Entry, type UserAndClock, Unable } from './assistant.js';
import type { SalesTask } from './tasks.js';

/** The record of a solved task. */
export interface Attempt {
  readonly task: SalesTask;
  readonly tools: readonly Tool[];
  readonly log: readonly Entry[];
}

interface Conditions {
  readonly protocolMode: ProtocolMode;
  /** The instance that the assistant connects to. */
  readonly at?: TestApp;
  /** Wraps the client of the assistant. */
  readonly through?: (client: Client) => Client;
  readonly userAndClock?: Partial<UserAndClock>;
}

/** Lets the assistant solve a task in a new organization. Throws if the check of the task fails. */
export async function attempt(
  app: TestApp,
  task: SalesTask,
  { protocolMode, at = app, through = (client) => client, userAndClock }: Conditions,
): Promise<Attempt> {
  const us = await app.organization(task.administers ? { scopes: app.scopes.every } : {});
  const before = await task.prepare(us.api);
  const agent = await connectAgent(at, await app.key(us.id, task.scopes), protocolMode);
  const assistant = await Assistant.connect(through(agent), {
    ...salesperson(task),
    ...userAndClock,
  });
  await task.solve(assistant).catch((error: unknown) => {
    if (!(error instanceof Unable)) throw error;
    assistant.say(error.message);
  });
  const { tools, log } = assistant;
  const said = log.flatMap((entry) => ('says' in entry ? entry.says : []));
  await task.check(us.api, before, said);
  return { task, tools, log };
}

/** The user who asked for the task: confirms every question and corrects each value once. */
function salesperson({ corrections = {} }: SalesTask): UserAndClock {
  const answers = new Map(Object.entries(corrections));
  return {
    confirm: () => true,
    correct: (fact) => {
      const answer = answers.get(fact);
      answers.delete(fact);
      return answer;
    },
    wait: (seconds) => Promise.reject(new Error(`was told to wait for ${seconds} seconds`)),
  };
}

export function callsOf({ log }: Attempt) {
  return log.filter((entry) => 'call' in entry);
}
