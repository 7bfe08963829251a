import { ApiError, validationError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { giveWay } from '../../give-way.js';
import type { ApiRequest } from './api-request.js';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

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

const DECOMPRESSORS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * Reads and decompresses the body of a request. After an error it discards the rest of the body, so
 * that the connection stays usable.
 * @param limit maximum size of the decompressed body in bytes
 * @throws ApiError `payload_too_large`, `unsupported_media_type`, `validation_error`
 */
export async function readBody(req: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () =>
    new ApiError('payload_too_large', {
      message: `The request body is larger than ${limit} bytes.`,
    });
  try {
    const coding = (req.headers['content-encoding'] ?? '').trim().toLowerCase();
    if (coding === '' || coding === 'identity') {
      if (Number(req.headers['content-length'] ?? 0) > limit) throw tooLarge();
      return await collect(req, limit, tooLarge);
    }
    const createDecompressor = DECOMPRESSORS.get(coding);
    if (!createDecompressor) {
      const message = 'The content-encoding of the body is not supported.';
      throw new ApiError('unsupported_media_type', { message });
    }
    // The compressed size has a limit too, because empty blocks add nothing to the decompressed size.
    const compressed = await collect(req, 2 * limit + 1024, tooLarge);
    // Zero bytes are an empty body with any content encoding.
    if (compressed.length === 0) return compressed;
    const decompressor = createDecompressor();
    try {
      const body = await collect(decompressor.end(compressed), limit, tooLarge);
      // zlib silently ignores bytes after the end of the compressed data.
      if (decompressor.bytesWritten !== compressed.length) throw damaged();
      return body;
    } finally {
      decompressor.destroy();
    }
  } finally {
    req.resume();
  }
}

/** Reads a stream to its end. */
async function collect(source: Readable, limit: number, tooLarge: () => ApiError): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  let stop = (): void => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const onData = (chunk: Buffer): void => {
        size += chunk.length;
        if (size <= limit) chunks.push(chunk);
        else reject(tooLarge());
      };
      const onLost = (): void => {
        // Streams also emit `close` after their end.
        if (!source.readableEnded) reject(damaged());
      };
      stop = () => {
        source.off('data', onData).off('end', resolve).off('error', onLost).off('close', onLost);
      };
      // A stream that is already destroyed emits no more events.
      if (source.destroyed) onLost();
      source.on('data', onData).on('end', resolve).on('error', onLost).on('close', onLost);
    });
  } finally {
    stop();
  }
  const [first, ...others] = chunks;
  return first && others.length === 0 ? first : Buffer.concat(chunks, size);
}

function damaged(): ApiError {
  return validationError([{ field: 'body', message: 'is damaged or incomplete' }]);
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const PARAMETER = new RegExp(
  `;[ \\t]*(?:(?<name>${TOKEN})=(?:(?<token>${TOKEN})|"(?<quoted>(?:[^"\\\\]|\\\\.)*)"))?[ \\t]*`,
  'y',
);
/** Longer than any header of a client. */
const MAX_LENGTH = 1_024;

/** `utf8` is not a registered name, but many clients send it. */
const UTF8 = /^utf-?8$/i;
/** Whether a `Content-Type` header is a form that can contain files. */
export function isMultipartForm(header: string | undefined): boolean {
  return header !== undefined && MULTIPART_TYPE.test(header);
}

const MULTIPART_TYPE = /^[ \t]*multipart\/form-data[ \t]*(;|$)/i;
const JSON_TYPE = /^[ \t]*application\/json[ \t]*/i;

/** Whether a `Content-Type` header is `application/json` without a charset or with UTF-8. */
export function isJsonContentType(header: string | undefined): boolean {
  if (header === undefined || header.length > MAX_LENGTH) return false;
  const type = JSON_TYPE.exec(header);
  if (!type) return false;
  let end = type[0].length;
  while (end < header.length) {
    PARAMETER.lastIndex = end;
    const parameter = PARAMETER.exec(header);
    if (!parameter?.groups) return false;
    const { name, token, quoted } = parameter.groups;
    const value = token ?? quoted?.replace(/\\(.)/g, '$1');
    if (name?.toLowerCase() === 'charset' && !UTF8.test(value ?? '')) return false;
    end = PARAMETER.lastIndex;
  }
  return true;
}
