import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiError, validationError } from '../../errors/api-error.js';
import type { FileBody } from '../routes/route-declarations.js';
import type { ApiRequest } from './api-request.js';

/** How long the client may take to send a file. */
const MAX_UPLOAD_MS = 300_000;

/** The body of a request as a stream. */
export interface FileStream {
  /** One of those that the route takes. */
  readonly type: string;
  /**
   * Can be read once. It throws an `ApiError` if the body is too large or incomplete. If the reader stops before the end,
   * the rest of the body is discarded.
   */
  readonly bytes: AsyncIterable<Buffer>;
}

/** Injects the body of a route with `@TakesFile()`. */
export const FileStream = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<ApiRequest>();
  const { file } = request.state.plan ?? {};
  if (!file) throw new Error('@FileStream() is used on a route without @TakesFile()');
  return { type: typeOf(request), bytes: bytesOf(request, file) };
});

/** @throws ApiError `unsupported_media_type`, `payload_too_large` */
export function assertFile(request: ApiRequest, { types, maxBytes }: FileBody): void {
  const { 'content-length': length, 'content-encoding': coding = 'identity' } = request.headers;
  if (Number(length ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (!types.includes(typeOf(request))) {
    const message = `Send the body as ${types.join(' or ')}.`;
    throw new ApiError('unsupported_media_type', { message });
  }
  if (coding.trim().toLowerCase() !== 'identity') {
    const message = 'Send the file without a content-encoding.';
    throw new ApiError('unsupported_media_type', { message });
  }
}

function typeOf({ headers }: ApiRequest): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

async function* bytesOf(request: ApiRequest, { maxBytes }: FileBody): AsyncGenerator<Buffer> {
  let size = 0;
  request.state.sendContinue?.();
  request.state.extendTimeout?.(MAX_UPLOAD_MS);
  try {
    // The response needs the connection after an error.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      const bytes = chunk as Buffer;
      size += bytes.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield bytes;
    }
  } catch (error) {
    if (error instanceof ApiError || request.complete) throw error;
    throw validationError([{ field: 'body', message: 'is damaged or incomplete' }]);
  } finally {
    request.resume();
  }
}

function tooLarge(maxBytes: number): ApiError {
  return new ApiError('payload_too_large', {
    message: `The file is larger than ${maxBytes} bytes.`,
  });
}
