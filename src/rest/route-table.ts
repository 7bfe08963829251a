import type { ApiRequest } from '../http/request/api-request.js';

/** An entry of Express' routing table. */
interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

interface RoutedApp {
  readonly router: { readonly stack: readonly Layer[] };
}

/** Indexes of the path segments that form the path of the collection. */
type KeptSegments = readonly number[];

const KEPT_SEGMENTS = new WeakMap<object, Map<string, KeptSegments>>();

/**
 * Returns the routes of an Express application that match a path.
 * @param catchAll path of the catch-all route, which is left out
 */
export function matchingRoutes(app: object, path: string, catchAll: string) {
  return (app as RoutedApp).router.stack.flatMap((layer) => {
    const { route } = layer;
    return route && !route.path.endsWith(catchAll) && layer.match(path) ? [route] : [];
  });
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
  const kept = known.get(pattern) ?? findCollection(pattern, app as RoutedApp);
  known.set(pattern, kept);
  const segments = request.path.split('/');
  return [...kept.map((index) => segments[index]), id].join('/');
}

function findCollection(pattern: string, { router }: RoutedApp): KeptSegments {
  const read = new Set(
    router.stack.flatMap(({ route }) =>
      route?.methods.get ? [withoutParameterNames(route.path)] : [],
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
