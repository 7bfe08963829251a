import type { EventEmitter } from 'node:events';
import { generateKeyPairSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
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
import {
  checkClientName,
  checkRedirectUris,
  GRANT_TYPES,
  keepSupported,
} from './client-metadata.js';
import { PAGE_HEADERS, renderProblem } from './consent.page.js';
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

  constructor(
    private readonly resource: ProtectedResource,
    repository: OAuthRepository,
    private readonly limits: RateLimits,
  ) {
    this.provider = new Provider(resource.origin, {
      ...configuration(resource, (request) => this.countAuthorization(request)),
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
      } else logger.error({ err: error }, 'OAuth failed');
    });
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
  count: (request: AddressedRequest) => Promise<void>,
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
        allowFetch: async (context, id) => {
          if (id.length > MAX_CLIENT_ID_LENGTH) return false;
          // An authorization is counted when it begins.
          if (isTokenRoute(context)) await count(context.req as AddressedRequest);
          return true;
        },
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
    fetch: fetchFromPublicAddress,
    renderError: (context, { error, error_description: description }) => {
      context.set(PAGE_HEADERS);
      context.type = 'html';
      context.body = renderProblem(description ?? error);
    },
  };
}

/** Whether a client is looked up for `/oauth/token` or `/oauth/revoke`. The page looks it up without a context. */
function isTokenRoute(context: KoaContextWithOIDC | undefined): context is KoaContextWithOIDC {
  return ['token', 'revocation'].includes(context?.oidc.route ?? '');
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

/** Fetches a metadata document. The dispatcher of oidc-provider refuses addresses that are not public. */
async function fetchFromPublicAddress(
  ...[url, options = {}]: Parameters<typeof fetch>
): Promise<Response> {
  if (!('dispatcher' in options)) throw new Error('the address of the document cannot be checked');
  return fetch(url, options);
}
