import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import {
  type ApiRequest,
  isRead,
  type RequestState,
  requestOf,
  responseOf,
  timesSent,
} from '../request/api-request.js';
import type { Call } from '../../data/call.js';
import type { AccessTokens } from '../../access/access-tokens.js';
import { KEY_PREFIX } from '../../access/api-key-format.js';
import { Authenticator } from '../../access/authenticator.js';
import { insufficientScope, wrongKindOfKey } from '../../access/scopes.js';
import { RoutePlans } from '../route-plans.js';
import { RequestLimits } from './request-limits.js';

const BEARER = /^bearer +([!-~]+) *$/i;

/**
 * The first guard. Sets the plan of the route and the call of the caller on the request, counts it, and checks the scopes of
 * the key. It refuses a request for its headers, without a valid key, over the limit, or without the scopes of the route. A
 * request without a valid key counts against the limit of its address. Each refusal has the rate limit headers.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly settings: Settings,
    private readonly plans: RoutePlans,
    private readonly authenticator: Authenticator,
    private readonly limits: RequestLimits,
  ) {}

  /**
   * @throws ApiError `bad_request`, `unauthorized`, `rate_limit_exceeded`, `insufficient_scope`, `query_failed`,
   *   `create_failed`, and that of an endpoint
   */
  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const response = responseOf(context);
    const plan = (request.state.plan = this.plans.of(context));
    const isUnknown = plan?.access === 'unknown-route';
    const endpoint = isUnknown ? this.plans.endpointAt(request.path) : plan?.endpoint;
    const refusal =
      refusalOfHeaders(request) ?? endpoint?.refusalOf(request.headers, this.settings);
    if (refusal) return this.refuse(refusal, request, response);
    // InputGuard verifies the sender of a webhook, and until then the address is counted.
    const needsKey = plan?.access !== 'public' && plan?.access !== 'webhook';
    const acceptsTokens = endpoint !== undefined;
    const authenticated = needsKey
      ? this.authenticate(request, response, acceptsTokens)
      : undefined;
    return mapMaybePromise(authenticated, () =>
      mapMaybePromise(this.count(context), () => {
        assertMayCall(request.state);
        return true;
      }),
    );
  }

  /** Counts the request against the shared limit, or as the code of a team says. Public routes are not counted. */
  private count(context: ExecutionContext): MaybePromise<void> {
    const request = requestOf(context);
    const { plan } = request.state;
    if (plan?.team?.count) return plan.team.count(context);
    return plan?.countedBy === 'nothing'
      ? undefined
      : this.limits.count(request, responseOf(context));
  }

  /** @param acceptsTokens whether the request may have an access token in place of a key */
  private authenticate(
    request: ApiRequest,
    response: Response,
    acceptsTokens: boolean,
  ): MaybePromise<void> {
    const { state } = request;
    const key = bearerToken(request);
    const isCredential = key !== undefined && this.authenticator.isCredential(key);
    const { accessTokens } = this.authenticator;
    if (accessTokens && acceptsTokens) {
      state.challenge = challengeOf(accessTokens, request.originalUrl, key !== undefined);
    }
    const found = isCredential
      ? this.findCall(this.authenticator.authenticate(key, acceptsTokens), request, response)
      : undefined;
    return mapMaybePromise(found, (call) => {
      state.call = call;
      if (call || (state.plan?.access === 'unknown-route' && !this.plans.requiresKey(request)))
        return undefined;
      if (!isCredential) this.authenticator.refusals[key === undefined ? 'missing' : 'malformed']++;
      const message = isCredential ? undefined : explainMissingKey(request);
      return mapMaybePromise(this.limits.count(request, response), () => {
        throw new ApiError('unauthorized', { message });
      });
    });
  }

  private findCall(
    call: MaybePromise<Call | undefined>,
    request: ApiRequest,
    response: Response,
  ): MaybePromise<Call | undefined> {
    if (!(call instanceof Promise)) return call;
    return call.catch((cause: unknown) => {
      // Clients expect `create_failed` for a failed write, also if only the lookup of the key failed.
      const isLookup = cause instanceof ApiError && cause.code === 'query_failed';
      const isWrite = !isRead(request) && request.state.plan?.countedBy !== 'handler';
      const error = isLookup && isWrite ? new ApiError('create_failed', { cause }) : cause;
      return this.refuse(error, request, response);
    });
  }

  /** Throws an error for a request that is not counted. */
  private refuse(error: unknown, request: ApiRequest, response: Response): MaybePromise<never> {
    return mapMaybePromise(this.limits.show(request, response), () => {
      throw error;
    });
  }
}

/**
 * Refuses keys that lack a scope of the route, operator keys at routes of organizations, and every request to a route whose
 * access is unknown.
 * @throws ApiError `insufficient_scope`
 */
export function assertMayCall({ plan, call }: Pick<RequestState, 'plan' | 'call'>): void {
  if (plan?.access === undefined) {
    throw new ApiError('insufficient_scope', {
      message:
        'This route has none of @RequireScope(), @AnyKey() and @Public(), so every request is refused.',
    });
  }
  const isOperator = call?.actor.key.operatorId !== undefined;
  if (isOperator && plan.acceptsOperators) return;
  if (isOperator !== (plan.access === 'operator')) throw wrongKindOfKey(isOperator);
  const missing = plan.scopes.find((scope) => !call?.actor.scopes.has(scope));
  if (missing !== undefined) throw insufficientScope(missing);
}

/**
 * The parameters of `WWW-Authenticate` by which a client finds out how to sign in
 * (docs/contract/oauth.md#challenges).
 */
function challengeOf({ resource }: AccessTokens, url: string, hasToken: boolean): string {
  const error = hasToken ? ', error="invalid_token"' : '';
  const scope = resource.scopes().join(' ');
  return `${error}, resource_metadata="${resource.metadataUrlOf(url)}", scope="${scope}"`;
}

/** Explains why the `Authorization` header contains no key. */
function explainMissingKey({ headers }: ApiRequest): string {
  const form = `Authorization: Bearer ${KEY_PREFIX}...`;
  return headers.authorization === undefined
    ? `The API key is missing. Send it in the header "${form}".`
    : `The Authorization header does not hold an API key. Send it once, in the form "${form}".`;
}

/** The token of the one `Authorization: Bearer` header. */
export function bearerToken(request: ApiRequest): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined || timesSent(request, 'authorization') > 1) return undefined;
  return BEARER.exec(authorization)?.[1];
}

const CONTINUE = '100-continue';

/** @returns why a request is refused for its `Host` or `Expect`; undefined if it is not */
export function refusalOfHeaders(request: ApiRequest): ApiError | undefined {
  if (!hasOneHost(request)) {
    return new ApiError('bad_request', { message: 'Send exactly one Host header.' });
  }
  const { expect = CONTINUE } = request.headers;
  if (expect.toLowerCase() === CONTINUE) return undefined;
  const message = `The only supported Expect is ${CONTINUE}.`;
  return new ApiError('bad_request', { status: 417, message });
}

function hasOneHost(request: ApiRequest): boolean {
  const hosts = timesSent(request, 'host');
  return hosts === 1 || (hosts === 0 && request.httpVersion === '1.0');
}
