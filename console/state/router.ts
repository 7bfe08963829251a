import { Store, useStore } from './store.js';

/** The URL of `/console/`. The script is in `assets`, also behind a proxy that adds a prefix. */
const ROOT = new URL('../', import.meta.url);

/** The address of the API, for the client. */
export const API_URL = new URL('../', ROOT).href.replace(/\/$/, '');

/** The address of the page, as its views read it. */
export interface Route {
  /** Such as `['leads', ID]`. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

export type Query = Readonly<Record<string, string | undefined>>;

const route = new Store<Route>(read());

addEventListener('popstate', () => {
  route.set(read());
});

export function useRoute(): Route {
  return useStore(route);
}

/**
 * The URL of a view.
 * @param path such as `leads/ID`, relative to `/console/`
 * @param query parameters; undefined and empty ones are left out
 */
export function urlOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const parameters = new URLSearchParams(given).toString();
  return ROOT.pathname + path + (parameters && `?${parameters}`);
}

/** Shows another view. */
export function navigate(path: string, query?: Query): void {
  history.pushState(null, '', urlOf(path, query));
  route.set(read());
}

/** Changes parameters of the address of the current view. Undefined and empty ones are removed. */
export function changeQuery(changes: Query): void {
  const { segments, query } = route.value;
  navigate(segments.map(encodeURIComponent).join('/'), {
    ...Object.fromEntries(query),
    ...changes,
  });
}

function read(): Route {
  const path = location.pathname.slice(ROOT.pathname.length);
  const segments = path.split('/').filter((segment) => segment !== '');
  return { segments: segments.map(decoded), query: new URLSearchParams(location.search) };
}

/** The text that a part of an address encodes, or the part itself if it encodes none. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
