import { Injectable } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { ORDINARY_SCOPES } from '../../platform/access/scopes.js';
import { ToolRegistry } from '../mcp/tools/tool-registry.js';

/** An ordinary scope whose effects outlive a grant. */
const NEVER_GRANTED = 'webhooks:write';

export const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** /mcp as a resource of OAuth (docs/contract/oauth.md#resource). */
@Injectable()
export class ProtectedResource {
  /** The origin under which clients reach the service. */
  readonly origin: string;
  /** The authorization server that issues the tokens. */
  readonly issuer: string;

  constructor(
    { publicUrl = '', oauthIssuer = publicUrl }: Settings,
    private readonly tools: ToolRegistry,
  ) {
    this.origin = publicUrl;
    this.issuer = oauthIssuer;
  }

  /** The identifiers of the resource. Clients send the one that their user has entered. */
  get identifiers(): readonly [string, string] {
    return [`${this.origin}/mcp`, `${this.origin}/mcp/`];
  }

  /** The scopes that a client can be granted: those that tools need. */
  scopes(): string[] {
    const ordinary: readonly string[] = ORDINARY_SCOPES;
    return this.tools.scopes.filter((scope) => ordinary.includes(scope) && scope !== NEVER_GRANTED);
  }

  /** @param url the URL of the request to /mcp, whose trailing slash is kept */
  metadataUrlOf(url: string): string {
    return `${this.origin}${METADATA_PATH}/mcp${hasSlash(url) ? '/' : ''}`;
  }

  /** @param url the URL of the request for the metadata */
  metadataOf(url: string) {
    const [identifier, withSlash] = this.identifiers;
    return {
      resource: hasSlash(url.slice(METADATA_PATH.length)) ? withSlash : identifier,
      authorization_servers: [this.issuer],
      scopes_supported: this.scopes(),
      bearer_methods_supported: ['header'],
      resource_name: 'Latitude',
    };
  }
}

/** Whether the path of a URL is `/mcp/`. */
function hasSlash(url: string): boolean {
  return /^\/mcp\/(\?|$)/.test(url);
}
