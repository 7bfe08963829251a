/** Indexes of the path segments that form the path of a collection. */
export type KeptSegments = readonly number[];

/**
 * Returns the segments of the path of a POST below which GET finds the new record. It is the path itself if a GET
 * route exists below it, otherwise the nearest outer path with such a route. For example,
 * `POST /api/v1/leads/:id/quotes` creates `/api/v1/quotes/:id` if that is the GET route, and
 * `POST /api/v1/leads/upsert` creates `/api/v1/leads/:id`.
 * @param reads the paths of the GET routes
 */
export function collectionOf(path: string, reads: readonly string[]): KeptSegments {
  const known = new Set(reads.map(withoutParameterNames));
  const segments = path.split('/');
  const all = [...segments.keys()];
  const hasRecords = (kept: KeptSegments) => {
    const collection = kept.map((index) => segments[index]).join('/');
    return known.has(withoutParameterNames(`${collection}/:id`));
  };
  for (let kept = all; ;) {
    if (hasRecords(kept)) return kept;
    const parent = kept.findLastIndex((index) => segments[index]?.startsWith(':'));
    if (parent < 1) break;
    kept = kept.toSpliced(parent - 1, 2);
  }
  const outer = all.slice(0, -1);
  return hasRecords(outer) ? outer : all;
}

/** Returns the path of a record that a POST to `path` created. */
export function createdPath(path: string, kept: KeptSegments, id: string): string {
  const segments = path.split('/');
  return [...kept.map((index) => segments[index]), id].join('/');
}

/** Replaces the names of path parameters, so that equal routes have equal paths. */
function withoutParameterNames(path: string): string {
  return path.replaceAll(/:\w+/g, ':');
}
