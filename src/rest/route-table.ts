import type { ApiRequest } from '../http/request/api-request.js';

/** One entry of Express' routing table. */
interface Layer {
  readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

interface RoutedApp {
  readonly router: { readonly stack: readonly Layer[] };
}

/** Which segments of a path name the collection of what was created there. */
type KeptSegments = readonly number[];

const KEPT_SEGMENTS = new WeakMap<object, Map<string, KeptSegments>>();

/** The routes of an application whose paths match, but for one that matches everything. */
export function matchingRoutes(app: object, path: string, everything: string) {
  return (app as RoutedApp).router.stack.flatMap((layer) => {
    const { route } = layer;
    return route && !route.path.endsWith(everything) && layer.match(path) ? [route] : [];
  });
}

/**
 * The path of a record that a POST created: below the POST where a GET route answers it there,
 * otherwise below the nearest outer path that has such a route. `POST /api/v1/leads/:id/quotes`
 * creates `/api/v1/quotes/:id` where quotes are read there.
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

/** A path without the names of its parameters. */
function withoutParameterNames(path: string): string {
  return path.replaceAll(/:\w+/g, ':');
}
