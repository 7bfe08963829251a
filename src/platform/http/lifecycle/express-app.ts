import http from 'node:http';
import express, { type Express } from 'express';
import { type ApiRequest, RequestState } from '../request/api-request.js';
import { parseQueryString } from '../request/query-string.js';
import { queryStringOf } from '../request/request-reader.js';

/** Creates an Express application with exact paths. Its router reads the settings when the first route is added. */
export function createExpress(): Express {
  const app = express();
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.disable('x-powered-by');
  app.disable('etag');
  app.disable('query parser');
  return app;
}

class StatefulRequest extends http.IncomingMessage {
  readonly state = new RequestState();
}

/** The classes that a server creates requests and responses from. */
type ServerClasses = Required<
  Pick<
    http.ServerOptions<typeof StatefulRequest, typeof http.ServerResponse<StatefulRequest>>,
    'IncomingMessage' | 'ServerResponse'
  >
>;

/**
 * Returns classes of Node's requests and responses that have Express' methods, and lets the application use
 * them. Express would change the prototype of each object instead, which V8 cannot optimize. `query` has a
 * setter, because input binding assigns it.
 */
export function serverClassesOf(app: Express): ServerClasses {
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
  copyMembers(ExpressRequest.prototype, express.request, app);
  copyMembers(ExpressResponse.prototype, express.response, app);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/** Copies the members of a prototype of Express that a class does not have. Its `app` is the application. */
function copyMembers(prototype: object, members: object, app: Express): void {
  const own = Object.getOwnPropertyDescriptors(prototype);
  Object.defineProperties(prototype, { ...Object.getOwnPropertyDescriptors(members), ...own });
  Object.defineProperty(prototype, 'app', { value: app, configurable: true, writable: true });
}
