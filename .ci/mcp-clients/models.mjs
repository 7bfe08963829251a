// The APIs of OpenAI, Google and Anthropic, without a network: they check the tools that a client converted
// and let the "model" call one of them.
import assert from 'node:assert/strict';

const OPENAI_KEYWORDS = [
  ...['type', 'description', 'enum', 'const', 'properties', 'required', 'items', 'anyOf'],
  ...['additionalProperties', 'pattern', 'format', 'minimum', 'maximum', 'minItems', 'maxItems'],
];
const GEMINI_KEYWORDS = [
  ...['type', 'format', 'title', 'description', 'nullable', 'enum', 'properties', 'required'],
  ...['items', 'minItems', 'maxItems', 'minLength', 'maxLength', 'minimum', 'maximum', 'pattern'],
  ...['minProperties', 'maxProperties', 'anyOf', 'propertyOrdering', 'default', 'example'],
];
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

/** Calls `check` with a schema and all schemas in it. */
function walk(schema, place, check) {
  check(schema, place);
  for (const [name, one] of Object.entries(schema.properties ?? {}))
    walk(one, `${place}.${name}`, check);
  if (schema.items) walk(schema.items, `${place}[]`, check);
  for (const [index, one] of (schema.anyOf ?? []).entries()) walk(one, `${place}|${index}`, check);
}

function assertKnown(schema, known, place) {
  const unknown = Object.keys(schema).filter((keyword) => !known.includes(keyword));
  assert.deepEqual(unknown, [], `${place} has keywords that the API refuses`);
  if (schema.type === 'array') assert.ok(schema.items, `${place} has no items`);
}

/** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
function assertOpenAiTool({ name, parameters, strict = false }) {
  assert.match(name, FUNCTION_NAME);
  assert.equal(parameters.type, 'object', name);
  walk(parameters, name, (schema, place) => {
    if (schema.type === 'array') assert.ok(schema.items, `${place} has no items`);
    if (!strict) return;
    assertKnown(schema, OPENAI_KEYWORDS, place);
    assert.ok(schema.type || schema.anyOf, `${place} has no type`);
    if (schema.type !== 'object') return;
    assert.equal(schema.additionalProperties, false, `${place} is open`);
    assert.deepEqual(schema.required, Object.keys(schema.properties ?? {}), `${place} has options`);
  });
}

/** https://ai.google.dev/api/caching#Schema */
function assertGeminiTool({ name, parameters }) {
  assert.match(name, FUNCTION_NAME);
  if (!parameters) return;
  walk(parameters, name, (schema, place) => {
    assertKnown(schema, GEMINI_KEYWORDS, place);
    assert.equal(typeof schema.type, 'string', `${place} has no single type`);
    if (schema.enum)
      assert.equal(schema.type.toLowerCase(), 'string', `${place} is an enum of others`);
    for (const value of schema.enum ?? []) assert.equal(typeof value, 'string', place);
    for (const required of schema.required ?? []) assert.ok(schema.properties[required], place);
  });
}

/** https://docs.claude.com/en/docs/agents-and-tools/tool-use */
function assertAnthropicTool({ name, input_schema: schema }) {
  assert.match(name, FUNCTION_NAME);
  assert.equal(schema.type, 'object', name);
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) assert.ok(!(keyword in schema), name);
}

/** The formats of the APIs: their tools, and responses that call a tool or end the conversation. */
const FORMATS = [
  {
    matches: ({ pathname }) => pathname.endsWith('/chat/completions'),
    check: ({ tools }) => tools.forEach(({ function: tool }) => assertOpenAiTool(tool)),
    isAnswered: ({ messages }) => messages.some(({ role }) => role === 'tool'),
    respond: (call) => {
      const name = call?.name;
      const used = {
        id: 'call_1',
        type: 'function',
        function: { name, arguments: JSON.stringify(call?.args) },
      };
      const message = {
        role: 'assistant',
        content: call ? null : 'Done.',
        ...(call && { tool_calls: [used] }),
      };
      const choice = { index: 0, message, finish_reason: call ? 'tool_calls' : 'stop' };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      return {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [choice],
        usage,
      };
    },
  },
  {
    matches: ({ pathname }) => pathname.endsWith('/responses'),
    check: ({ tools }) => tools.forEach(assertOpenAiTool),
    isAnswered: ({ input }) => input.some?.(({ type }) => type === 'function_call_output'),
    respond: (call) => {
      const text = { type: 'output_text', text: 'Done.', annotations: [] };
      const used = { type: 'function_call', id: 'fc_1', call_id: 'call_1', status: 'completed' };
      const output = call
        ? { ...used, name: call.name, arguments: JSON.stringify(call.args) }
        : { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const details = { input_tokens_details: {}, output_tokens_details: {} };
      const response = {
        id: 'r',
        object: 'response',
        created_at: 1,
        model: 'm',
        status: 'completed',
      };
      return { ...response, output: [output], usage: { ...usage, ...details } };
    },
  },
  {
    matches: ({ pathname }) => pathname.endsWith(':generateContent'),
    check: ({ tools }) =>
      tools.forEach((tool) => tool.functionDeclarations.forEach(assertGeminiTool)),
    isAnswered: ({ contents }) =>
      contents.some(({ parts }) => parts.some((part) => part.functionResponse)),
    respond: (call) => {
      const part = call
        ? { functionCall: { name: call.name, args: call.args } }
        : { text: 'Done.' };
      const content = { role: 'model', parts: [part] };
      return { candidates: [{ index: 0, content, finishReason: 'STOP' }], usageMetadata: {} };
    },
  },
  {
    matches: ({ pathname }) => pathname.endsWith('/messages'),
    check: ({ tools }) => tools.forEach(assertAnthropicTool),
    isAnswered: ({ messages }) =>
      messages.some(({ content }) => content.some?.(({ type }) => type === 'tool_result')),
    respond: (call) => {
      const block = call
        ? { type: 'tool_use', id: 'toolu_1', name: call.name, input: call.args }
        : { type: 'text', text: 'Done.' };
      const stop_reason = call ? 'tool_use' : 'end_turn';
      const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [block] };
      return {
        ...message,
        stop_reason,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      };
    },
  },
];

/**
 * Answers the requests to model APIs instead of the network until `work` has ended.
 * @param choose receives the tools as the client sends them, and returns the call of the model
 */
export async function withModels(choose, work) {
  const original = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const format = FORMATS.find(({ matches }) => matches(new URL(request.url)));
    if (!format) return original(input, init);
    const body = await request.json();
    format.check(body);
    return Response.json(format.respond(format.isAnswered(body) ? undefined : choose(body.tools)));
  };
  try {
    return await work();
  } finally {
    globalThis.fetch = original;
  }
}
