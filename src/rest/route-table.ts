import { expressRoutes } from '../http/lifecycle/express-internals.js';
import type { ApiRequest } from '../http/request/api-request.js';

/** Indexes of the path segments that form the path of the collection. */
type KeptSegments = readonly number[];

const KEPT_SEGMENTS = new WeakMap<object, Map<string, KeptSegments>>();

/**
 * Returns the routes of an Express application that match a path.
 * @param catchAll path of the catch-all route, which is left out
 */
export function matchingRoutes(app: object, path: string, catchAll: string) {
  return expressRoutes(app, path).filter((route) => !route.path.endsWith(catchAll));
}

/**
 * Returns the path of a record that a POST created. It is below the path of the POST if a GET route
 * exists there, otherwise below the nearest outer path with such a route. For example,
 * `POST /api/v1/leads/:id/quotes` creates `/api/v1/quotes/:id` if that is the GET route.
 */
export function createdPathOf(request: ApiRequest, id: string): string {
  const { path: pattern } = request.route as { path: string };
  const app = request.app as object;
  const known = KEPT_SEGMENTS.get(app) ?? new Map<string, KeptSegments>();
  KEPT_SEGMENTS.set(app, known);
  const kept = known.get(pattern) ?? findCollection(pattern, app);
  known.set(pattern, kept);
  const segments = request.path.split('/');
  return [...kept.map((index) => segments[index]), id].join('/');
}

function findCollection(pattern: string, app: object): KeptSegments {
  const read = new Set(
    expressRoutes(app).flatMap(({ path, methods }) =>
      methods.get ? [withoutParameterNames(path)] : [],
    ),
  );
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

/** Replaces the names of path parameters, so that equal routes have equal paths. */
function withoutParameterNames(path: string): string {
  return path.replaceAll(/:\w+/g, ':');
}
