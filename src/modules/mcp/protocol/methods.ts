import {
  type CallToolRequest,
  type CompleteRequest,
  type JSONRPCRequest,
  ProtocolErrorCode,
  type SpecTypeName,
  specTypeSchemas,
  type StandardSchemaV1Sync,
} from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { OrganizationSchemas } from '../../../platform/access/organization-schemas.js';
import { Authenticator } from '../../../platform/access/authenticator.js';
import { ApiError, REALM } from '../../../platform/errors/api-error.js';
import { fieldLabel, type FieldProblem } from '../../../platform/errors/field-problem.js';
import { toLoggedApiError } from '../../../platform/http/error.filter.js';
import { CompletionService } from '../prompts/completion.service.js';
import { PromptRegistry } from '../prompts/prompt-registry.js';
import { RpcError } from '../rpc-error.js';
import { canonicalUriOf, contentsOf, ResourceRegistry } from '../resources/resource-registry.js';
import type { Call } from '../../../platform/data/call.js';
import type { Session } from '../sessions/session.js';
import { StoredSubscriptions } from '../sessions/stored-subscriptions.js';
import { MAX_SUBSCRIPTIONS } from '../sessions/subscriptions.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { ToolRunner } from '../tools/tool-runner.js';
import type { McpCall } from '../mcp-call.js';

type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;

/** The methods of all protocol versions, each with the name of the SDK schema for its requests. */
const REQUEST_TYPES: ReadonlyMap<string, SpecTypeName> = new Map<string, SpecTypeName>([
  ['ping', 'PingRequest'],
  ['tools/list', 'ListToolsRequest'],
  ['tools/call', 'CallToolRequest'],
  ['resources/list', 'ListResourcesRequest'],
  ['resources/templates/list', 'ListResourceTemplatesRequest'],
  ['resources/read', 'ReadResourceRequest'],
  ['resources/subscribe', 'SubscribeRequest'],
  ['resources/unsubscribe', 'UnsubscribeRequest'],
  ['prompts/list', 'ListPromptsRequest'],
  ['prompts/get', 'GetPromptRequest'],
  ['completion/complete', 'CompleteRequest'],
]);

/**
 * Clients that pass the text and the structured content of a result to the model, which would then read
 * everything twice. They get only the text.
 */
const CLIENTS_THAT_FORWARD_BOTH: readonly string[] = ['@langchain/mcp-adapters'];

/** The methods that read a record and count as a read. */
const READING_METHODS: readonly string[] = ['resources/read', 'resources/subscribe'];

/** The most characters of a list of tools with what the organization has defined: 8,000 tokens. */
const MAX_CHARACTERS = 34_200;

/** The methods of all protocol versions. */
@Injectable()
export class McpMethods {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly runner: ToolRunner,
    private readonly prompts: PromptRegistry,
    private readonly completions: CompletionService,
    private readonly resources: ResourceRegistry,
    private readonly subscriptions: StoredSubscriptions,
    private readonly authenticator: Authenticator,
    private readonly schemas: OrganizationSchemas,
  ) {}

  /** Whether the rate limits count a request as a read or a write. They count others as messages. */
  isCall({ method, params }: JSONRPCRequest): boolean {
    if (method === 'tools/call') return this.tools.countsAsReadOrWrite(String(params?.name));
    return READING_METHODS.includes(method);
  }

  /**
   * Refuses requests whose access token lacks a scope, so that their client asks the person for more
   * (docs/contract/oauth.md#missing-scopes). Callers with a key get the error in the result of the call.
   * @throws ApiError `insufficient_scope` that names the scopes that the token has and those that it lacks
   */
  checkScopes({ call: { actor }, request, messages: { requests } }: McpCall): void {
    // Only callers with an access token are restricted to /mcp.
    const resource = actor.isMcpOnly && this.authenticator.accessTokens?.resource;
    if (!resource) return;
    const needed = requests.flatMap((message) => this.scopesOf(message));
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
    const type = REQUEST_TYPES.get(request.method);
    if (!type) throw new RpcError(ProtocolErrorCode.MethodNotFound, 'Method not found');
    const problems = schemaProblemsOf(request, type);
    if (problems.length > 0) {
      const messages = problems.map(({ field, message }) => `${field} ${message}`);
      throw new RpcError(ProtocolErrorCode.InvalidParams, messages.join('; '));
    }
    const { method, params = {} } = request;
    try {
      return await this.answer(method, params, context);
    } catch (thrown) {
      if (thrown instanceof RpcError) throw thrown;
      const { state } = context.request;
      const error = toLoggedApiError(thrown, state.requestId, '/mcp');
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

  private async answer(method: string, params: Params, context: McpCall): Promise<Result> {
    const { call } = context;
    const { scopes } = call.actor;
    const uri = String(params.uri);
    const args = params.arguments as object | undefined;
    switch (method) {
      case 'tools/list':
        return this.listTools(context);
      case 'tools/call':
        return this.callTool(params as CallToolRequest['params'], context);
      // Single records are too many to list. Tools find them, and templates describe their URIs.
      case 'resources/list':
        return { resources: this.resources.listsFor(scopes) };
      case 'resources/templates/list':
        return { resourceTemplates: this.resources.templatesFor(scopes) };
      case 'resources/read':
        return { contents: [contentsOf(uri, (await this.resources.read(uri, context)).record)] };
      case 'resources/subscribe':
        return this.subscribe(uri, context);
      case 'resources/unsubscribe':
        await this.subscriptions.remove(sessionOf(context), canonicalUriOf(uri));
        return {};
      case 'prompts/list':
        return { prompts: this.prompts.listFor(scopes) };
      case 'prompts/get':
        return { ...(await this.prompts.get(call, String(params.name), args)) };
      case 'completion/complete':
        return this.complete(params as CompleteRequest['params'], call);
      default:
        return {};
    }
  }

  /**
   * The scopes that a request needs. Those of `completion/complete` are left out, because a host sends it while a person
   * types, and must not ask the person for a scope then.
   */
  private scopesOf({ method, params: { name, uri } = {} }: JSONRPCRequest): readonly string[] {
    if (method === 'tools/call') return this.tools.scopesOf(String(name));
    if (method === 'prompts/get') return this.prompts.scopesOf(String(name));
    return READING_METHODS.includes(method) ? this.resources.scopesOfUri(String(uri)) : [];
  }

  private async listTools({ call, session }: McpCall): Promise<Result> {
    const general = this.tools.listFor(call.actor.scopes);
    const described = await this.schemas.applyTo(call, () => general);
    // Agents read the tools in each conversation. Beyond the budget, describe_fields tells what the organization has defined.
    const isSmall = JSON.stringify(described ?? '').length <= MAX_CHARACTERS;
    const tools = described && isSmall ? described : general;
    if (!needsTextOnly(session)) return { tools };
    // A tool with an output schema would have to return structured content.
    return { tools: tools.map(({ outputSchema, ...tool }) => tool) };
  }

  private async callTool(params: CallToolRequest['params'], context: McpCall): Promise<Result> {
    const result: Result = await this.runner.call(params, context);
    const { structuredContent, ...text } = result;
    return needsTextOnly(context.session) ? text : result;
  }

  private async complete(params: CompleteRequest['params'], call: Call): Promise<Result> {
    return { completion: await this.completions.complete(call, params) };
  }

  private async subscribe(uri: string, context: McpCall): Promise<Result> {
    const session = sessionOf(context);
    const resource = await this.resources.read(uri, context);
    // Every later change is notified. A read after this response includes every earlier change.
    if (await this.subscriptions.add(session, resource)) return {};
    const message = `The limit of ${MAX_SUBSCRIPTIONS} subscriptions is reached: unsubscribe from one first`;
    throw new RpcError(ProtocolErrorCode.InvalidParams, message);
  }
}

/** Whether any protocol version has the method. The SDK refuses those that revision 2026-07-28 lacks. */
export function isSupportedMethod(method: string): boolean {
  return REQUEST_TYPES.has(method);
}

function needsTextOnly(session: Session | undefined): boolean {
  return session !== undefined && CLIENTS_THAT_FORWARD_BOTH.includes(session.record.client_name);
}

function sessionOf({ session }: McpCall): Session {
  if (session) return session;
  throw new RpcError(ProtocolErrorCode.MethodNotFound, 'Subscriptions need a session');
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
