import type { ApiClient } from '../../src/testing/api-client.js';

/** A page of a list that is read by cursor. */
export interface PageByCursor {
  readonly data: readonly (Record<string, unknown> & { readonly id: string })[];
  readonly meta: { readonly next: string; readonly has_more: boolean };
}

/** Reads the page after a cursor; the first one by default. */
export async function pageAfter(
  api: ApiClient,
  path: string,
  after = '',
  query: Record<string, string> = {},
): Promise<PageByCursor> {
  const answer = await api.get(`${path}?${new URLSearchParams({ ...query, after })}`);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as PageByCursor;
}

/** The ids of all records after a cursor, page by page. */
export async function idsByCursor(
  api: ApiClient,
  path: string,
  query: Record<string, string> = {},
  after = '',
): Promise<string[]> {
  const { data, meta } = await pageAfter(api, path, after, query);
  const ids = data.map(({ id }) => id);
  return meta.has_more ? [...ids, ...(await idsByCursor(api, path, query, meta.next))] : ids;
}
