import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Tenant } from '../database/gateway/tenant.js';
import type { ErrorCode } from '../errors/error-catalogue.js';

/** Who asks: the first argument of every service method. */
export interface Actor {
  readonly organization: Tenant & {
    readonly name: string;
    /** Region that national phone numbers are read by, ISO 3166-1 alpha-2. */
    readonly phoneRegion: string;
  };
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly expiresAt: Date | null;
    /** The user that the key acts for, where one was named when it was made. */
    readonly userId: string | null;
  };
  readonly scopes: ReadonlySet<string>;
  /** Where the request came in: REST or, for an AI agent, /mcp. */
  readonly channel: 'api' | 'ai';
}

/** What the steps in front of a controller leave on the request for those behind them. */
export interface ApiRequest extends Request {
  /** When it came in (milliseconds of `performance.now()`). */
  arrivedAt: number;
  /** Answered as `X-Request-Id`. */
  requestId: string;
  /** The address of the client, behind trusted proxies the one that they name. */
  clientAddress: string | undefined;
  /** Set where a valid key was sent. */
  actor?: Actor;
  /** Whether the route answers only to a valid key. */
  keyRequired?: boolean;
  /** Why no key could be read, where that says more than that it is not valid. */
  keyProblem?: string;
  /** Whether the route counts by itself what a valid key asks of it. */
  isCountedLater?: boolean;
  /** Whether the route is a page, which no limit applies to. */
  isPage?: boolean;
  /** Whether the answer stands in the envelope of REST. */
  isRest?: boolean;
  /** Set where the answer is an error. */
  errorCode?: ErrorCode;
  /** Set where the client holds its body back until it is asked for (`Expect: 100-continue`). */
  askForBody?: () => void;
}

/** The pattern of a request's route, never its URL, which can hold personal data. */
export function routeOf({ route }: ApiRequest): string | null {
  return (route as { path?: string } | undefined)?.path ?? null;
}

/** How often a header was sent, named in lower case; of several, Node shows the first alone. */
export function timesSent({ rawHeaders }: ApiRequest, header: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i];
    if (raw?.length === header.length && raw.toLowerCase() === header) count++;
  }
  return count;
}

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Whether a request reads; what does not read counts and fails as a write
 * (docs/contract/limits.md#rate-limits).
 */
export function isRead({ method }: Pick<ApiRequest, 'method'>): boolean {
  return READ_METHODS.has(method);
}

/** The `Actor` of a request, for controllers behind a key. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const { actor } = context.switchToHttp().getRequest<ApiRequest>();
  if (!actor) throw new Error('@Caller() stands on a route that needs no key');
  return actor;
});
