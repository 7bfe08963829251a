// Lets a model call a tool through the conversions of each agent framework.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { ChatOpenAI } from '@langchain/openai';
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents';
import { generateText, stepCountIs } from 'ai';
import { CLIENTS } from './clients.mjs';

const PROMPT = 'Do it.';
const apiKey = 'none';

setTracingDisabled(true);

/** Each runs one conversation of a model that calls one tool. */
export const CONVERSIONS = {
  'AI SDK, OpenAI': (server) => runAiSdk(server, createOpenAI({ apiKey })('gpt-5')),
  'AI SDK, Gemini': (server) =>
    runAiSdk(server, createGoogleGenerativeAI({ apiKey })('gemini-2.5-pro')),
  'AI SDK, Claude': (server) => runAiSdk(server, createAnthropic({ apiKey })('claude-sonnet-4-5')),
  'LangChain, OpenAI': (server) =>
    runLangChain(server, new ChatOpenAI({ apiKey, model: 'gpt-4o' })),
  'LangChain, Gemini': (server) =>
    runLangChain(server, new ChatGoogleGenerativeAI({ apiKey, model: 'gemini-2.5-pro' })),
  'LangChain, Claude': (server) =>
    runLangChain(server, new ChatAnthropic({ apiKey, model: 'claude-sonnet-4-5' })),
  'OpenAI Agents': (server) => runOpenAiAgents(server, false),
  'OpenAI Agents, strict': (server) => runOpenAiAgents(server, true),
};

async function runAiSdk(server, model) {
  const client = await CLIENTS['AI SDK'](server);
  const { tools } = client;
  await generateText({ model, tools, prompt: PROMPT, stopWhen: stepCountIs(3), maxRetries: 0 });
  await client.close();
}

async function runLangChain(server, llm) {
  const client = await CLIENTS.LangChain(server);
  const agent = createReactAgent({ llm, tools: client.tools });
  await agent.invoke({ messages: [{ role: 'user', content: PROMPT }] });
  await client.close();
}

async function runOpenAiAgents(server, convertSchemasToStrict) {
  const client = await CLIENTS['OpenAI Agents'](server);
  const mcpServers = [client.server];
  const mcpConfig = { convertSchemasToStrict };
  const agent = new Agent({ name: 'assistant', model: 'gpt-5', mcpServers, mcpConfig });
  const modelProvider = new OpenAIProvider({ apiKey });
  await new Runner({ modelProvider }).run(agent, PROMPT);
  await client.close();
}
