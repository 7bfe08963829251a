import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { Authenticator } from '../../../platform/access/authenticator.js';
import { ApiError, REALM } from '../../../platform/errors/api-error.js';
import { PromptRegistry } from '../prompts/prompt-registry.js';
import { ResourceRegistry } from '../resources/resource-registry.js';
import { scopesOf } from '../tools/tool.decorator.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import type { McpRequestContext } from './mcp-call.js';
import type { Messages } from './messages.js';

/**
 * Refuses requests whose access token lacks a scope, so that their client asks the person for more
 * (docs/contract/oauth.md#missing-scopes). Callers with a key get the error in the result of the call.
 */
@Injectable()
export class ScopeChallenge {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly tools: ToolRegistry,
    private readonly prompts: PromptRegistry,
    private readonly resources: ResourceRegistry,
  ) {}

  /** @throws ApiError `insufficient_scope` that names the scopes that the token has and those that it lacks */
  check({ requests }: Messages, { call: { actor }, request }: McpRequestContext): void {
    const resource = actor.isMcpOnly && this.authenticator.accessTokens?.resource;
    if (!resource) return;
    const grantable = resource.scopes();
    const needed = new Set(requests.flatMap((message) => this.scopesOf(message)));
    const missing = grantable.filter((scope) => needed.has(scope) && !actor.scopes.has(scope));
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

  /** The scopes that a message needs, except those of completions, whose failure no person waits for. */
  private scopesOf({ method, params = {} }: JSONRPCRequest): readonly string[] {
    const { name, uri } = params;
    if (method === 'tools/call') {
      const tool = this.tools.find(String(name));
      return tool ? scopesOf(tool.declaration) : [];
    }
    if (method === 'prompts/get') return this.prompts.scopesOf(String(name));
    if (method !== 'resources/read' && method !== 'resources/subscribe') return [];
    const scope = this.resources.referenceOf(String(uri))?.kind.scope;
    return scope === undefined ? [] : [scope];
  }
}
