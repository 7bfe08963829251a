import { type ApiClient, type Answer } from '../../src/testing/api-client.js';
import { dataOf, LEADS } from '../../src/testing/factories.js';
import { until } from './servers/product.js';

/** An import in responses of the API (docs/contract/imports.md#progress). */
export interface ImportRecord {
  id: string;
  status: string;
  match_on: string[];
  ignored_columns: string[];
  bytes: number;
  lines: number;
  processed: number;
  created: number;
  updated: number;
  unchanged: number;
  rejected: number;
  error: string | null;
}

export const IMPORTS = `${LEADS}/imports`;

/** Sends a file. @param query parameters of the import */
export function sendFile(
  api: ApiClient,
  file: string | Uint8Array,
  query: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const parameters = new URLSearchParams(query).toString();
  return api.post(`${IMPORTS}?${parameters}`, file, {
    headers: { 'Content-Type': 'text/csv', ...headers },
  });
}

/** Imports a file, and waits until the import has ended. */
export async function importFile(
  api: ApiClient,
  file: string | Uint8Array,
  query?: Record<string, string>,
  headers?: Record<string, string>,
): Promise<ImportRecord> {
  const { id } = dataOf<ImportRecord>(await sendFile(api, file, query, headers), 202);
  return untilEnded(api, id);
}

export async function untilEnded(api: ApiClient, id: string): Promise<ImportRecord> {
  const get = async () => dataOf<ImportRecord>(await api.get(`${IMPORTS}/${id}`));
  await until(async () => !['pending', 'running'].includes((await get()).status));
  return get();
}

/** The rejected lines of an import, as CSV. */
export async function rejectedOf(api: ApiClient, id: string, query = ''): Promise<string> {
  const answer = await api.get(`${IMPORTS}/${id}/rejected${query}`);
  return answer.body as string;
}

/** What became of the lines of an import, as CSV. */
export async function resultsOf(api: ApiClient, id: string): Promise<string> {
  const answer = await api.get(`${IMPORTS}/${id}/results`);
  return answer.body as string;
}
