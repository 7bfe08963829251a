import { isObject, jsonOf } from '../../platform/fields/kinds/json-object.js';
import { type OutgoingRequests, readStart } from '../../platform/outgoing/outgoing-requests.js';

const MAX_BYTES = 5 * 1_024;

/** The headers that say how long a document may be used. */
const CACHING = ['cache-control', 'expires'];

/**
 * Fetches the metadata document of a client. oidc-provider fetches nothing else, and reads the document once more.
 * @param options those of oidc-provider, whose signal ends the request after 2.5 seconds
 * @throws Error, whose message no client receives
 */
export async function fetchDocument(
  requests: OutgoingRequests,
  ...[url, { signal, headers } = {}]: Parameters<typeof fetch>
): Promise<Response> {
  if (!signal) throw new Error('a document needs a time limit');
  const answer = await requests.send(url instanceof Request ? url.url : new URL(url).href, {
    method: 'GET',
    headers: { accept: new Headers(headers).get('accept') ?? '*/*' },
    signal,
  });
  const start = answer.statusCode === 200 ? await readStart(answer, MAX_BYTES + 1) : undefined;
  if (!start || start.length > MAX_BYTES || !answer.complete) {
    answer.destroy();
    throw new Error(`the document is not available: ${answer.statusCode}`);
  }
  const kept = CACHING.flatMap((name) => {
    const value = answer.headers[name];
    return typeof value === 'string' ? [[name, value] satisfies [string, string]] : [];
  });
  return new Response(withoutNulls(start.toString('utf8')), { headers: kept });
}

/** Removes fields that are null, which means the same as absent. */
function withoutNulls(text: string): string {
  const document = jsonOf(text);
  if (!isObject(document)) return text;
  return JSON.stringify(document, (_, value: unknown) => value ?? undefined);
}
