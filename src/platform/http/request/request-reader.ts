import { ApiError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { giveWay } from '../../give-way.js';
import type { ApiRequest } from './api-request.js';
import { readBody } from './body-reader.js';
import { isJsonContentType } from './content-type.js';

const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** Whether the method allows a body. */
export function allowsBody({ method }: Pick<ApiRequest, 'method'>): boolean {
  return !METHODS_WITHOUT_BODY.has(method);
}

/** Whether the headers announce a body. A chunked body can still be empty. */
export function mayHaveBody({ headers }: ApiRequest): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
}

/** From this size on, reading an input takes a part of the time of a turn of the event loop. */
export const LARGE_BYTES = 4_096;

/** The errors of a body that cannot be read, so that it is not empty. */
const UNREADABLE: readonly string[] = ['unsupported_media_type', 'validation_error'];

/** Many clients send an empty object instead of no body. */
const EMPTY_OBJECT = /^[ \t\r\n]*\{[ \t\r\n]*\}[ \t\r\n]*$/;

/**
 * Checks the body of a request whose method allows none. An empty body and an empty object are
 * accepted with any content type.
 * @throws ApiError `payload_too_large`
 */
export async function checkUnexpectedBody(
  request: ApiRequest,
  limit: number,
): Promise<FieldProblem[]> {
  if (!mayHaveBody(request)) return [];
  try {
    const bytes = await receiveBody(request, limit);
    if (bytes.length === 0 || EMPTY_OBJECT.test(bytes.toString('latin1'))) return [];
  } catch (error) {
    const isDamaged = error instanceof ApiError && UNREADABLE.includes(error.code);
    if (!isDamaged) throw error;
  }
  return [{ field: 'body', message: `must be empty: a ${request.method} request takes no body` }];
}

/**
 * Reads a body whose content type is JSON, without parsing it.
 * @returns an empty buffer if there is no body
 * @throws ApiError `payload_too_large`, `unsupported_media_type`, `validation_error`
 */
export async function readJsonBytes(request: ApiRequest, limit: number): Promise<Buffer> {
  if (!mayHaveBody(request)) return Buffer.alloc(0);
  if (!isTooLarge(request, limit) && !isJsonContentType(request.headers['content-type'])) {
    throw new ApiError('unsupported_media_type');
  }
  return readBytes(request, limit);
}

/**
 * Reads a body of any content type.
 * @returns an empty buffer if there is no body
 * @throws ApiError `payload_too_large`, `unsupported_media_type`, `validation_error`
 */
export async function readBytes(request: ApiRequest, limit: number): Promise<Buffer> {
  return mayHaveBody(request) ? receiveBody(request, limit) : Buffer.alloc(0);
}

function isTooLarge({ headers }: ApiRequest, limit: number): boolean {
  return Number(headers['content-length'] ?? 0) > limit;
}

const READ_ALREADY =
  'Middleware of this server, such as express.json(), has read the body before Latitude. Remove it from the routes of Latitude and from those that take the body with @Body().';

/** Reads a body. Sends `100 Continue` first if the client waits for it. */
async function receiveBody(request: ApiRequest, limit: number): Promise<Buffer> {
  if (request.readableDidRead || request.readableEnded) {
    throw new ApiError('internal_error', { message: READ_ALREADY });
  }
  if (!isTooLarge(request, limit)) request.state.sendContinue?.();
  const bytes = await readBody(request, limit);
  // Bodies that arrive together are then parsed in several turns of the event loop.
  if (bytes.length >= LARGE_BYTES) await giveWay();
  return bytes;
}

/** The query of the URL, without the question mark. */
export function queryStringOf({ url }: ApiRequest): string {
  const start = url.indexOf('?');
  return start === -1 ? '' : url.slice(start + 1);
}
