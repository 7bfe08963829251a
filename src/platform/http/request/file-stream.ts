import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiError, validationError } from '../../errors/api-error.js';
import type { FileBody } from '../routes/route-declarations.js';
import { type ApiRequest, requestOf } from './api-request.js';
import { isMultipartForm } from './request-reader.js';
import { fileOfForm } from './form-file.js';

/** How long the client may take to send a file. */
const MAX_UPLOAD_MS = 300_000;

/** What a form may have in addition to its file. */
const FORM_BYTES = 65_536;

/** The file of a request as a stream: its body, or the file of a form. */
export interface FileStream {
  /** One of those that the route takes. */
  readonly type: string;
  /** That of the content type, in lower case. */
  readonly charset: string | undefined;
  /**
   * Can be read once. It throws an `ApiError` if the body is too large or incomplete. If the reader stops before the end,
   * the rest of the body is discarded.
   */
  readonly bytes: AsyncIterable<Buffer>;
}

/** Injects the file of a route with `@TakesFile()`. */
export const FileStream = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const request = requestOf(context);
  const { file } = request.state.plan ?? {};
  if (!file) throw new Error('@FileStream() is used on a route without @TakesFile()');
  const { 'content-type': header = '' } = request.headers;
  if (isMultipartForm(header)) return fileInForm(request, header, file);
  const [, charset] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(header) ?? [];
  const bytes = bytesOf(request, file.maxBytes);
  return { type: typeOf(request), charset: charset?.toLowerCase(), bytes };
});

/** @throws ApiError `unsupported_media_type`, `payload_too_large` */
export function assertFile(request: ApiRequest, file: FileBody): void {
  const { headers } = request;
  const { 'content-length': length, 'content-encoding': coding = 'identity' } = headers;
  const isForm = isMultipartForm(headers['content-type']);
  if (Number(length ?? 0) > file.maxBytes + (isForm ? FORM_BYTES : 0)) {
    throw tooLarge(file.maxBytes);
  }
  if (!isForm && !file.types.includes(typeOf(request))) throw wrongType(file);
  if (coding.trim().toLowerCase() !== 'identity') {
    const message = 'Send the file without a content-encoding.';
    throw new ApiError('unsupported_media_type', { message });
  }
}

function wrongType({ types }: FileBody): ApiError {
  const message = `Send the file as ${types.join(' or ')}, or as the only file of a form (multipart/form-data).`;
  return new ApiError('unsupported_media_type', { message });
}

/**
 * Finds the file of a form. A type that says nothing about the file, such as that of curl, gives way to the extension of
 * its name.
 * @throws ApiError `validation_error`, `unsupported_media_type`, `payload_too_large`
 */
async function fileInForm(
  request: ApiRequest,
  header: string,
  file: FileBody,
): Promise<FileStream> {
  const { maxBytes, types, extensions } = file;
  const form = await fileOfForm(header, bytesOf(request, maxBytes + FORM_BYTES));
  const type = types.includes(form.type) ? form.type : extensions[form.extension];
  if (type === undefined) {
    // Ends the form.
    await form.bytes[Symbol.asyncIterator]().return?.();
    const message = `Send a form whose file has the type ${types.join(' or ')}, or a name with the extension of such a file.`;
    throw new ApiError('unsupported_media_type', { message });
  }
  return { type, charset: undefined, bytes: limited(form.bytes, maxBytes) };
}

function typeOf({ headers }: ApiRequest): string {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1);
  return type.trim().toLowerCase();
}

async function* limited(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

async function* bytesOf(request: ApiRequest, maxBytes: number): AsyncGenerator<Buffer> {
  request.state.sendContinue?.();
  request.state.extendTimeout?.(MAX_UPLOAD_MS);
  try {
    // The response needs the connection after an error.
    yield* limited(request.iterator({ destroyOnReturn: false }), maxBytes);
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
