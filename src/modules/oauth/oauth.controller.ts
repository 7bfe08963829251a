import { Get, Options, Post, Req, Res } from '@nestjs/common';
import type { Response } from 'express';
import { RateLimits } from '../../platform/access/limits/rate-limits.js';
import { Public } from '../../platform/http/routes/access.js';
import { LatitudeController } from '../../platform/http/routes/api-controller.decorator.js';
import { type ApiRequest, isPreflight } from '../../platform/http/request/api-request.js';
import { AuthorizationServer, NAMED_SCOPES } from './authorization-server.js';
import { OAuthErrorFilter } from './oauth-error.filter.js';
import { ProtectedResource } from './protected-resource.js';

/** How often an address may register a client in an hour. */
const REGISTRATIONS = { ttl: 3_600_000, limit: 20 };

const TOKEN_PATHS = ['oauth/token', 'oauth/revoke'];
const DISCOVERY_PATHS = [
  '.well-known/oauth-authorization-server',
  '.well-known/openid-configuration',
  'oauth/jwks',
];

/** The parameters of an authorization. A server ignores others, and `prompt` has no effect but that of `none`. */
const AUTHORIZATION_PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'redirect_uri', 'response_type', 'response_mode', 'state', 'resource'],
  ...['code_challenge', 'code_challenge_method', 'request', 'request_uri'],
]);

/** The endpoints of OAuth (docs/contract/oauth.md#endpoints). oidc-provider sends the responses. */
@LatitudeController('/', OAuthErrorFilter)
export class OAuthController {
  constructor(
    private readonly server: AuthorizationServer,
    private readonly resource: ProtectedResource,
    private readonly limits: RateLimits,
  ) {}

  @Get([...DISCOVERY_PATHS, 'oauth/authorize/:uid'])
  @Public()
  get(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    return this.server.answer(request, response);
  }

  @Get('oauth/authorize')
  @Public()
  async authorize(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    await this.server.countAuthorization(request);
    request.url = `${request.path}?${this.authorizationQuery(request.url).toString()}`;
    await this.server.answer(request, response);
  }

  @Post('oauth/register')
  @Public()
  async register(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    await this.limits.countAddress(
      request.state.clientAddress ?? '',
      'oauth register',
      REGISTRATIONS,
    );
    await this.server.answer(request, response);
  }

  @Post(TOKEN_PATHS)
  @Public()
  token(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    return this.server.answer(request, response);
  }

  @Options([...DISCOVERY_PATHS, ...TOKEN_PATHS])
  @Public()
  async preflight(@Req() request: ApiRequest, @Res() response: Response): Promise<void> {
    // oidc-provider answers 404 if the CORS middleware has set the headers.
    if (isPreflight(request, response)) response.status(204).end();
    else await this.server.answer(request, response);
  }

  /** The known parameters, and the known scopes among the requested ones; by default all scopes. */
  private authorizationQuery(url: string): URLSearchParams {
    const sent = new URLSearchParams(url.replace(/^[^?]*\??/, ''));
    const kept = [...sent].filter(([name]) => AUTHORIZATION_PARAMETERS.has(name));
    const query = new URLSearchParams(kept);
    const known = this.resource.scopes();
    const requested = known.filter((scope) => sent.get('scope')?.split(' ').includes(scope));
    query.set('scope', (requested.length > 0 ? requested : known).join(' '));
    if (requested.length > 0) query.set(NAMED_SCOPES, requested.join(' '));
    if (sent.get('prompt') === 'none') query.set('prompt', 'none');
    return query;
  }
}
