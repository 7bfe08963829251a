/** The last parameter of a path, with the segment before it. */
const LAST_PARAMETER = /\/[^/]+\/:[^/]+(?=(?:\/[^:/][^/]*)*$)/;

/**
 * Returns the path below which GET finds the record that a POST to `path` creates. It is the path itself if a GET route
 * exists below it, otherwise the nearest outer path with such a route. For example, `POST /api/v1/leads/:id/quotes` creates
 * `/api/v1/quotes/:id` if that is the GET route, and `POST /api/v1/leads/upsert` creates `/api/v1/leads/:id`.
 * @param reads the paths of the GET routes
 * @returns undefined if no GET finds the record
 */
export function collectionOf(path: string, reads: readonly string[]): string | undefined {
  const known = new Set(reads.map(withoutParameterNames));
  const hasRecords = (collection: string) => known.has(withoutParameterNames(`${collection}/:id`));
  const nearest = (collection: string): string | undefined => {
    if (hasRecords(collection)) return collection;
    const outer = collection.replace(LAST_PARAMETER, '');
    return outer === collection ? undefined : nearest(outer);
  };
  const above = path.replace(/\/[^/]*$/, '');
  return nearest(path) ?? (hasRecords(above) ? above : undefined);
}

/** Returns the path of a created record. @param params those of the path of the POST */
export function createdPath(collection: string, params: object, id: string): string {
  const values = params as Readonly<Record<string, string | undefined>>;
  const path = collection.replaceAll(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  return `${path}/${id}`;
}

/** Replaces the names of path parameters, so that equal routes have equal paths. */
function withoutParameterNames(path: string): string {
  return path.replaceAll(/:\w+/g, ':');
}
