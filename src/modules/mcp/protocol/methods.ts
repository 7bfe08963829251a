import {
  type JSONRPCRequest,
  ProtocolErrorCode,
  type SpecTypeName,
  specTypeSchemas,
  type StandardSchemaV1Sync,
} from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { Authenticator } from '../../../platform/access/authenticator.js';
import { ApiError, REALM } from '../../../platform/errors/api-error.js';
import { fieldLabel, type FieldProblem } from '../../../platform/errors/field-problem.js';
import { toLoggedMcpError } from '../mcp-error.js';
import {
  type CompletionReference,
  type CompletionArgument,
  CompletionService,
} from '../prompts/completion.service.js';
import { PromptRegistry } from '../prompts/prompt-registry.js';
import { canonicalUriOf, contentsOf, ResourceRegistry } from '../resources/resource-registry.js';
import type { Session } from '../sessions/session.js';
import { StoredSubscriptions } from '../sessions/stored-subscriptions.js';
import { MAX_SUBSCRIPTIONS } from '../sessions/subscriptions.js';
import { needsTextOnly, textOnly, withoutOutputSchema } from '../tools/result-forms.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { IDEMPOTENCY_KEY_META, ToolRunner } from '../tools/tool-runner.js';
import type { McpCall } from './mcp-call.js';

/** A JSON-RPC error. The error classes of the SDK cannot be used: they repeat the code in the message. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: object,
  ) {
    super(message);
  }
}

type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;

interface Method {
  /** The name of the SDK schema for the request. */
  readonly type: SpecTypeName;
  readonly answer: (params: Params, context: McpCall) => Result | Promise<Result>;
  /** Whether a request counts as a read or a write, and not as a message. */
  readonly isCall?: (params: Params) => boolean;
  /** The scopes that a request needs, except for completions, whose failure no person waits for. */
  readonly scopesOf?: (params: Params) => readonly string[];
}

/** The problem of a batch with the header `Idempotency-Key`, which is the key of a single call. */
const KEY_OF_BATCH = {
  field: 'Idempotency-Key',
  message: `must not be sent with a batch; use _meta["${IDEMPOTENCY_KEY_META}"] of the call`,
};

interface ToolCallParams {
  readonly name: string;
  readonly arguments?: Result;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The methods of all protocol versions. */
@Injectable()
export class McpMethods {
  /** The SDK rejects methods that revision 2026-07-28 does not have. */
  private readonly methods: ReadonlyMap<string, Method> = new Map(
    Object.entries<Method>({
      ping: { type: 'PingRequest', answer: () => ({}) },
      'tools/list': { type: 'ListToolsRequest', answer: (_, context) => this.listTools(context) },
      'tools/call': {
        type: 'CallToolRequest',
        answer: (params, context) => this.callTool(params as unknown as ToolCallParams, context),
        isCall: ({ name }) => this.tools.countsAsReadOrWrite(String(name)),
        scopesOf: ({ name }) => this.tools.scopesOf(String(name)),
      },
      'resources/list': {
        type: 'ListResourcesRequest',
        // Single records are too many to list. Tools find them, and templates describe their URIs.
        answer: (_, { call }) => ({ resources: this.resources.listsFor(call.actor.scopes) }),
      },
      'resources/templates/list': {
        type: 'ListResourceTemplatesRequest',
        answer: (_, { call: { actor } }) => {
          return { resourceTemplates: this.resources.templatesFor(actor.scopes) };
        },
      },
      'resources/read': {
        type: 'ReadResourceRequest',
        answer: ({ uri }, context) => this.readResource(String(uri), context),
        isCall: () => true,
        scopesOf: ({ uri }) => this.resources.scopesOfUri(String(uri)),
      },
      'resources/subscribe': {
        type: 'SubscribeRequest',
        answer: ({ uri }, context) => this.subscribe(String(uri), context),
        isCall: () => true,
        scopesOf: ({ uri }) => this.resources.scopesOfUri(String(uri)),
      },
      'resources/unsubscribe': {
        type: 'UnsubscribeRequest',
        answer: ({ uri }, context) => this.unsubscribe(String(uri), context),
      },
      'prompts/list': {
        type: 'ListPromptsRequest',
        answer: (_, { call }) => ({ prompts: this.prompts.listFor(call.actor.scopes) }),
      },
      'prompts/get': {
        type: 'GetPromptRequest',
        answer: (params, context) => this.getPrompt(params, context),
        scopesOf: ({ name }) => this.prompts.scopesOf(String(name)),
      },
      'completion/complete': {
        type: 'CompleteRequest',
        answer: (params, context) => this.complete(params, context),
      },
    }),
  );

  constructor(
    private readonly tools: ToolRegistry,
    private readonly runner: ToolRunner,
    private readonly prompts: PromptRegistry,
    private readonly completions: CompletionService,
    private readonly resources: ResourceRegistry,
    private readonly subscriptions: StoredSubscriptions,
    private readonly authenticator: Authenticator,
  ) {}

  has(method: string): boolean {
    return this.methods.has(method);
  }

  /** Whether a request counts as a read or a write, and not as a message. */
  isCall({ method, params = {} }: JSONRPCRequest): boolean {
    return this.methods.get(method)?.isCall?.(params) ?? false;
  }

  /**
   * Refuses requests whose access token lacks a scope, so that their client asks the person for more
   * (docs/contract/oauth.md#missing-scopes). Callers with a key get the error in the result of the call.
   * @throws ApiError `insufficient_scope` that names the scopes that the token has and those that it lacks
   */
  checkScopes({ call: { actor }, request, messages: { requests } }: McpCall): void {
    const resource = actor.isMcpOnly && this.authenticator.accessTokens?.resource;
    if (!resource) return;
    const needed = requests.flatMap(({ method, params = {} }) => {
      return this.methods.get(method)?.scopesOf?.(params) ?? [];
    });
    const missing = resource
      .scopes()
      .filter((scope) => needed.includes(scope) && !actor.scopes.has(scope));
    if (missing.length === 0) return;
    const scope = [...actor.scopes, ...missing].sort().join(' ');
    const metadata = resource.metadataUrlOf(request.originalUrl);
    throw new ApiError('insufficient_scope', {
      message: `The access token needs the scope ${missing.join(' and ')}.`,
      headers: {
        'WWW-Authenticate': `Bearer realm="${REALM}", error="insufficient_scope", scope="${scope}", resource_metadata="${metadata}"`,
      },
    });
  }

  /**
   * Validates a request and runs its method.
   * @param rpcCodeOf maps an API error to the JSON-RPC code of the protocol version
   * @returns the result of the method
   * @throws RpcError
   */
  async handle(
    request: Pick<JSONRPCRequest, 'method' | 'params'>,
    context: McpCall,
    rpcCodeOf: (error: ApiError) => number,
  ): Promise<Result> {
    const method = this.methods.get(request.method);
    if (!method) throw new RpcError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    const problems = schemaProblemsOf(request, method.type);
    if (problems.length > 0) {
      const messages = problems.map(({ field, message }) => `${field} ${message}`);
      throw new RpcError(ProtocolErrorCode.InvalidParams, messages.join('; '));
    }
    const { params = {} } = request;
    try {
      return await method.answer(params, context);
    } catch (thrown) {
      if (thrown instanceof RpcError) throw thrown;
      const { state } = context.request;
      const error = toLoggedMcpError(thrown, state.requestId);
      state.errorCode = error.code;
      const { code, message, retryable, details, headers } = error;
      const retryAfter = headers['Retry-After'];
      const data = {
        ...{ uri: params.uri, code, message, retryable, details },
        ...(retryAfter !== undefined && { retry_after_seconds: Number(retryAfter) }),
      };
      const isInvalid = code === 'validation_error';
      const rpcCode = isInvalid ? ProtocolErrorCode.InvalidParams : rpcCodeOf(error);
      throw new RpcError(rpcCode, `${code}: ${message}`, data);
    }
  }

  private listTools({ call, session }: McpCall): Result {
    const tools = this.tools.listFor(call.actor.scopes);
    return { tools: needsTextOnly(session?.clientName) ? tools.map(withoutOutputSchema) : tools };
  }

  private async callTool(
    { name, arguments: args = {}, _meta }: ToolCallParams,
    { call, request, messages, session, onCounted }: McpCall,
  ): Promise<Result> {
    const keyOfRequest = request.get('Idempotency-Key');
    const isKeyOfBatch = messages.isBatch && keyOfRequest !== undefined;
    const outcome = await this.runner.call({
      call,
      name,
      args,
      parseProblems: [...messages.argumentProblems, ...(isKeyOfBatch ? [KEY_OF_BATCH] : [])],
      idempotencyKey: _meta?.[IDEMPOTENCY_KEY_META] ?? keyOfRequest,
      onCounted,
    });
    if (!outcome) return throwUnknown('tool', name);
    request.state.errorCode = outcome.error?.code;
    return needsTextOnly(session?.clientName) ? textOnly(outcome.result) : outcome.result;
  }

  private async readResource(uri: string, { call, onCounted }: McpCall): Promise<Result> {
    return { contents: [contentsOf(await this.resources.read(call, uri, onCounted))] };
  }

  private async subscribe(uri: string, context: McpCall): Promise<Result> {
    const session = sessionOf(context);
    const resource = await this.resources.read(context.call, uri, context.onCounted);
    // Every later change is notified. A read after this response includes every earlier change.
    if (await this.subscriptions.add(session, resource)) return {};
    const message = `The limit of ${MAX_SUBSCRIPTIONS} subscriptions is reached: unsubscribe from one first`;
    throw new RpcError(ProtocolErrorCode.InvalidParams, message);
  }

  private async unsubscribe(uri: string, context: McpCall): Promise<Result> {
    await this.subscriptions.remove(sessionOf(context), canonicalUriOf(uri));
    return {};
  }

  private async getPrompt(params: Params, { call }: McpCall): Promise<Result> {
    const { name, arguments: args = {} } = params as { name: string; arguments?: object };
    return { ...((await this.prompts.get(call, name, args)) ?? throwUnknown('prompt', name)) };
  }

  private async complete(params: Params, { call }: McpCall): Promise<Result> {
    const { ref, argument } = params as { ref: CompletionReference; argument: CompletionArgument };
    const completion = await this.completions.complete(call, ref, argument);
    return { completion: completion ?? throwUnknown('argument or reference', argument.name) };
  }
}

function sessionOf({ session }: McpCall): Session {
  if (session) return session;
  throw new RpcError(ProtocolErrorCode.MethodNotFound, 'Subscriptions need a session');
}

function throwUnknown(kind: string, name: string): never {
  const message = `Unknown ${kind}: ${fieldLabel(name, '')}`;
  throw new RpcError(ProtocolErrorCode.InvalidParams, message);
}

/** Validates a request against an SDK schema. */
export function schemaProblemsOf(request: object, type: SpecTypeName): FieldProblem[] {
  const schema: StandardSchemaV1Sync = specTypeSchemas[type];
  const { issues = [] } = schema['~standard'].validate(request);
  return issues.map(({ path = [], message }) => {
    const field = fieldLabel((path as PropertyKey[]).join('.'), 'params');
    return { field, message: `is not valid: ${message}` };
  });
}
