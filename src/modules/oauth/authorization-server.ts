import type { EventEmitter } from 'node:events';
import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import Provider, {
  type Configuration,
  errors,
  interactionPolicy,
  type JWK,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { ApiError } from '../../platform/errors/api-error.js';
import { logger } from '../../platform/config/logger.js';
import { RateLimits } from '../../platform/access/limits/rate-limits.js';
import { isObject } from '../../platform/fields/kinds/json-object.js';
import { OutgoingRequests } from '../../platform/outgoing/outgoing-requests.js';
import {
  checkClientName,
  checkRedirectUris,
  GRANT_TYPES,
  keepSupported,
} from './client-metadata.js';
import { fetchDocument } from './client-document.js';
import { PAGE_HEADERS, renderProblem } from './consent.page.js';
import { inPlainWords, oauthErrorOf, pageProblemOf } from './oauth-errors.js';
import { OAuthRepository } from './oauth.repository.js';
import { ProtectedResource } from './protected-resource.js';

/** The paths of the endpoints. */
export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
  consent: '/oauth/consent',
} as const;

/** The parameter in which `OAuthController` passes the scopes that a client has named to the page. */
export const NAMED_SCOPES = 'named_scopes';

const ACCESS_TOKEN_SECONDS = 15 * 60;
/** How long a person may take. */
const INTERACTION_SECONDS = 10 * 60;
const CODE_SECONDS = 60;

/** How long a metadata document is used without fetching it again, if it does not say so itself. */
const DOCUMENT_SECONDS = { min: 5 * 60, max: 24 * 60 * 60 };

/** How often an address may begin an authorization, or make the token endpoint fetch a document, in a minute. */
const AUTHORIZATIONS = { ttl: 60_000, limit: 60 };

/** Longer ids do not fit into an entry of an index of PostgreSQL. oidc-provider accepts only ids of printable ASCII. */
const MAX_CLIENT_ID_LENGTH = 2_000;

/** A request with the address of its client, which the platform has found out. */
interface AddressedRequest extends IncomingMessage {
  readonly state: { readonly clientAddress: string | undefined };
}

/** The authorization server of /mcp: oidc-provider, configured as OAuth 2.1 for public clients. */
@Injectable()
export class AuthorizationServer {
  readonly provider: Provider;
  private readonly callback: ReturnType<Provider['callback']>;
  /** The requests for which a metadata document was fetched. */
  private readonly fetching = new WeakSet<IncomingMessage>();

  constructor(
    private readonly resource: ProtectedResource,
    repository: OAuthRepository,
    private readonly limits: RateLimits,
    requests: OutgoingRequests,
  ) {
    this.provider = new Provider(resource.origin, {
      ...configuration(resource, (context) => this.allowFetch(context)),
      fetch: (url, options) => fetchDocument(requests, url, options),
      adapter: (kind: string) => repository.adapterOf(kind),
    });
    // Lets koa read `X-Forwarded-Proto`, which `forwarded()` sets.
    this.provider.proxy = true;
    this.provider.use(async (context, next) => {
      // oidc-provider takes the origin of all addresses from the URL of the request. Otherwise koa would build this URL
      // from `X-Forwarded-Host` or `Host`, which any client can send.
      context.request.originalUrl = resource.origin;
      await next();
      this.adjust(context);
    });
    const emitter: EventEmitter = this.provider;
    emitter.on('error', (error) => {
      logger.error({ err: error as unknown }, 'OAuth failed');
    });
    this.provider.on('server_error', (context, error) => {
      if (error instanceof ApiError) {
        // The database is not available, or an address has reached its limit.
        context.status = error.status;
        context.set(error.headers);
        if (isObject(context.body)) context.body = oauthErrorOf(error);
      } else logger.error({ err: error }, 'OAuth failed');
    });
    this.callback = this.provider.callback();
  }

  /** Lets oidc-provider answer a request. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await this.callback(this.forwarded(request), response);
  }

  /** Tells oidc-provider the protocol of the public URL, which decides whether cookies are secure. */
  forwarded(request: IncomingMessage): IncomingMessage {
    request.headers['x-forwarded-proto'] = new URL(this.resource.origin).protocol.slice(0, -1);
    return request;
  }

  /** @throws ApiError `rate_limit_exceeded` */
  async countAuthorization({ state }: AddressedRequest): Promise<void> {
    await this.limits.countAddress(state.clientAddress ?? '', 'oauth authorize', AUTHORIZATIONS);
  }

  /**
   * Whether a metadata document may be fetched. A request fetches one at most once: after a failure, oidc-provider looks the
   * client up again to find out where it could redirect.
   * @throws ApiError `rate_limit_exceeded`
   */
  private async allowFetch(context: KoaContextWithOIDC | undefined): Promise<boolean> {
    // The page looks the client up without a context.
    if (!context) return true;
    if (this.fetching.has(context.req)) return false;
    this.fetching.add(context.req);
    // An authorization is counted when it begins.
    const isTokenRoute = ['token', 'revocation'].includes(context.oidc.route);
    if (isTokenRoute) await this.countAuthorization(context.req as AddressedRequest);
    return true;
  }

  /** Names the scopes in the metadata, and removes the cookie of sessions, which are not kept. */
  private adjust(context: Parameters<Parameters<Provider['use']>[0]>[0]): void {
    // A preflight request has no body.
    if (context.path.startsWith('/.well-known/') && isObject(context.body)) {
      Object.assign(context.body, { scopes_supported: this.resource.scopes() });
    }
    const cookies = context.res.getHeader('Set-Cookie');
    if (!Array.isArray(cookies)) return;
    const session = `${this.provider.cookieName('session')}=`;
    const others = cookies.filter((cookie) => !cookie.startsWith(session));
    context.set('Set-Cookie', others);
  }
}

function configuration(
  resource: ProtectedResource,
  allowFetch: (context: KoaContextWithOIDC | undefined) => Promise<boolean>,
): Configuration {
  return {
    // oidc-provider needs a key. Nothing is signed: tokens are opaque, and there are no id tokens.
    jwks: { keys: [unusedKey()] },
    enabledJWA: { idTokenSigningAlgValues: [UNUSED_ALGORITHM] },
    // Scopes are those of the resource, and `adjust` adds them to the metadata.
    scopes: [],
    claims: {},
    responseTypes: ['code'],
    // Clients are public, so that oidc-provider requires PKCE of them and replaces each refresh token that they use.
    clientAuthMethods: ['none'],
    clientDefaults: {
      application_type: 'native',
      grant_types: [...GRANT_TYPES],
      id_token_signed_response_alg: UNUSED_ALGORITHM,
      token_endpoint_auth_method: 'none',
    },
    extraClientMetadata: {
      properties: ['client_name', 'redirect_uris'],
      validator: (_, name, value, metadata) => {
        // oidc-provider calls this before its own checks, and has no other place to change what a client sends.
        keepSupported(metadata);
        if (name === 'client_name') checkClientName(value);
        else checkRedirectUris(value);
      },
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_, client, { clientId }) => clientId === client.clientId,
      },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: (context, id) => id.length <= MAX_CLIENT_ID_LENGTH && allowFetch(context),
        allowClient: (_, client) =>
          client.clientName !== undefined && (client.redirectUris ?? []).length > 0,
        cacheDuration: DOCUMENT_SECONDS,
      },
      resourceIndicators: {
        enabled: true,
        // `oneOf` has the resources that the client names. oidc-provider wants one of them; without any, it is /mcp.
        defaultResource: (_, __, oneOf) => [oneOf ?? resource.identifiers[0]].flat()[0] ?? '',
        getResourceServerInfo: (_, identifier) => {
          if (!(resource.identifiers as readonly string[]).includes(identifier))
            throw new errors.InvalidTarget();
          return { scope: resource.scopes().join(' '), accessTokenFormat: 'opaque' };
        },
      },
    },
    routes: ROUTES,
    cookies: {
      names: {
        interaction: 'latitude_oauth_consent',
        resume: 'latitude_oauth_resume',
      },
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Interaction: INTERACTION_SECONDS,
      Session: INTERACTION_SECONDS,
      Grant: ACCESS_TOKEN_SECONDS,
      RefreshToken: ({ oidc }) => oidc.entities.Grant?.remainingTTL ?? ACCESS_TOKEN_SECONDS,
    },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    // A client that revokes one of its tokens ends the grant, as the contract says, and not only this token.
    revokeGrantPolicy: () => true,
    expiresWithSession: () => false,
    interactions: { url: (_, { uid }) => `${ROUTES.consent}/${uid}`, policy: [consentPrompt()] },
    clientBasedCORS: () => true,
    extraParams: [NAMED_SCOPES],
    renderError: (context, { error: code, error_description: description }, error) => {
      context.set(PAGE_HEADERS);
      context.type = 'html';
      const problem = inPlainWords(description ?? code);
      context.body = renderProblem(error instanceof ApiError ? pageProblemOf(error) : problem);
    },
  };
}

const UNUSED_ALGORITHM = 'ES256';

function unusedKey(): JWK {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ format: 'jwk' });
}

/** The only prompt: the page, which every authorization shows. Its result names the grant. */
function consentPrompt() {
  return new interactionPolicy.Prompt(
    { name: 'consent', requestable: true },
    new interactionPolicy.Check('no_grant', 'the person has not granted access', ({ oidc }) => {
      return oidc.result?.consent?.grantId === undefined;
    }),
  );
}
