import http from 'node:http';
import type { Express } from 'express';
import { type ApiRequest, RequestState } from '../request/api-request.js';
import { parseQueryString } from '../request/query-string.js';
import { queryStringOf } from '../request/request-reader.js';

// The parts of Express that are not public API. Everything that relies on them is in this file.

/** A route in Express' routing table. */
export interface ExpressRoute {
  readonly path: string;
  readonly methods: Readonly<Record<string, boolean>>;
}

interface Layer {
  readonly route?: ExpressRoute;
  match(path: string): boolean;
}

/** Returns the routes of an application, or those that match a path. */
export function expressRoutes(app: object, path?: string): ExpressRoute[] {
  const { stack } = (app as { router: { stack: readonly Layer[] } }).router;
  return stack.flatMap((layer) => {
    return layer.route && (path === undefined || layer.match(path)) ? [layer.route] : [];
  });
}

/** Moves the routes whose paths end with this one behind everything that is registered so far. */
export function moveRoutesToEnd(app: object, path: string): void {
  const { router } = app as { router: { stack: readonly Layer[] } };
  const isMoved = ({ route }: Layer) => route?.path.endsWith(path) === true;
  const { stack } = router;
  router.stack = [...stack.filter((layer) => !isMoved(layer)), ...stack.filter(isMoved)];
}

/**
 * Turns on `strict routing` and `case sensitive routing`. The router exists already and no longer reads these
 * settings of Express.
 */
export function routeExactly(app: Express): void {
  Object.assign(app.router, { strict: true, caseSensitive: true });
}

class StatefulRequest extends http.IncomingMessage {
  readonly state = new RequestState();
}

/** The classes that a server creates requests and responses from. */
type ExpressClasses = Required<
  Pick<
    http.ServerOptions<typeof StatefulRequest, typeof http.ServerResponse<StatefulRequest>>,
    'IncomingMessage' | 'ServerResponse'
  >
>;

/**
 * Returns classes of Node's requests and responses that have Express' methods. Express would change the
 * prototype of each object instead, which V8 cannot optimize. `query` has a setter, because input binding assigns
 * it.
 */
export function expressClasses(app: Express): ExpressClasses {
  class ExpressRequest extends StatefulRequest {
    private boundQuery: unknown = undefined;

    /** The query as sent for middleware, and as the handler declares it after input binding. */
    get query(): unknown {
      return (this.boundQuery ??= parseQueryString(
        queryStringOf(this as unknown as ApiRequest),
        () => true,
      ).values);
    }

    set query(value: unknown) {
      this.boundQuery = value;
    }
  }
  class ExpressResponse extends http.ServerResponse<StatefulRequest> {}
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
