import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ApiError, validationError } from '../../errors/api-error.js';

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
