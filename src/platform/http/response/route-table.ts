import { RequestMethod } from '@nestjs/common';
import { pathToRegexp } from 'path-to-regexp';
import type { ApiRequest } from '../request/api-request.js';

/** The method of a route, and its path as Express reads it. */
export interface RoutePath {
  readonly method: string;
  readonly path: string;
}

interface Route extends RoutePath {
  /** Matches paths as the router does. */
  readonly pattern: RegExp;
}

/** Indexes of the path segments that form the path of the collection. */
type KeptSegments = readonly number[];

const ALL = RequestMethod[RequestMethod.ALL];

/** Where an Express application keeps its table of routes, in `locals`. */
export const ROUTE_TABLE = 'latitudeRouteTable';

/** The routes of all controllers. A request has those of its application. */
export class RouteTable {
  private readonly routes: readonly Route[];
  private readonly keptSegments = new Map<string, KeptSegments>();

  /** @param intercepted the handlers on which interceptors of a team run */
  constructor(
    routes: readonly RoutePath[],
    private readonly intercepted: ReadonlySet<object>,
  ) {
    this.routes = routes.map(({ method, path }) => {
      const { regexp } = pathToRegexp(path, { sensitive: true, trailing: false });
      return { method, path, pattern: regexp };
    });
  }

  /** Whether interceptors of a team run on a handler. */
  isIntercepted(handler: object): boolean {
    return this.intercepted.has(handler);
  }

  /** Returns the methods that a path answers, in alphabetical order. */
  methodsAt(path: string): string[] {
    const matching = this.routes.filter(({ pattern }) => pattern.test(path));
    const methods = new Set(matching.map(({ method }) => method).filter((each) => each !== ALL));
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  }

  /**
   * Returns the path of a record that a POST created. It is below the path of the POST if a GET route
   * exists there, otherwise below the nearest outer path with such a route. For example,
   * `POST /api/v1/leads/:id/quotes` creates `/api/v1/quotes/:id` if that is the GET route.
   */
  createdPathOf(request: ApiRequest, id: string): string {
    const { path: pattern } = request.route as { path: string };
    const kept = this.keptSegments.get(pattern) ?? this.findCollection(pattern);
    this.keptSegments.set(pattern, kept);
    const segments = request.path.split('/');
    return [...kept.map((index) => segments[index]), id].join('/');
  }

  private findCollection(pattern: string): KeptSegments {
    const reads = this.routes.filter(({ method }) => method === 'GET');
    const read = new Set(reads.map(({ path }) => withoutParameterNames(path)));
    const segments = pattern.split('/');
    const all = [...segments.keys()];
    for (let kept = all; ;) {
      const collection = kept.map((index) => segments[index]).join('/');
      if (read.has(withoutParameterNames(`${collection}/:id`))) return kept;
      const parent = kept.findLastIndex((index) => segments[index]?.startsWith(':'));
      if (parent < 1) return all;
      kept = kept.toSpliced(parent - 1, 2);
    }
  }
}

/** Returns the routes of the application that received a request. */
export function routesOf({ app }: Pick<ApiRequest, 'app'>): RouteTable {
  return app.locals[ROUTE_TABLE] as RouteTable;
}

/** Replaces the names of path parameters, so that equal routes have equal paths. */
function withoutParameterNames(path: string): string {
  return path.replaceAll(/:\w+/g, ':');
}
