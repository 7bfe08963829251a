import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** The reason why a body was not read. */
export type BodyErrorReason = 'too_large' | 'unsupported_encoding' | 'corrupt' | 'aborted';

const MESSAGES: Record<BodyErrorReason, string> = {
  too_large: 'The body is larger than the limit.',
  unsupported_encoding: 'The content-encoding of the body is not supported.',
  corrupt: 'The compressed body is damaged or incomplete.',
  aborted: 'The connection ended before the whole body had arrived.',
};

/** The error of a body that could not be read completely. */
export class BodyError extends Error {
  constructor(readonly reason: BodyErrorReason) {
    super(MESSAGES[reason]);
    this.name = 'BodyError';
  }
}

const DECOMPRESSORS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

type Decompressor = ReturnType<typeof createGunzip>;

/**
 * Reads and decompresses the body of a request. After an error it discards the rest of the body, so
 * that the connection stays usable.
 * @param limit maximum size of the decompressed body in bytes
 * @throws BodyError
 */
export async function readBody(req: IncomingMessage, limit: number): Promise<Buffer> {
  try {
    const coding = (req.headers['content-encoding'] ?? '').trim().toLowerCase();
    if (coding === '' || coding === 'identity') return await readPlain(req, limit);
    const createDecompressor = DECOMPRESSORS.get(coding);
    if (!createDecompressor) throw new BodyError('unsupported_encoding');
    return await readCompressed(req, createDecompressor(), limit);
  } finally {
    req.resume();
  }
}

async function readPlain(req: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > limit) throw new BodyError('too_large');
  const body = new LimitedBuffer(limit);
  const reading = consume(req, 'aborted', (chunk) => body.add(chunk));
  try {
    await reading.done;
    return body.toBuffer();
  } finally {
    reading.stop();
  }
}

async function readCompressed(
  req: IncomingMessage,
  decompressor: Decompressor,
  limit: number,
): Promise<Buffer> {
  const body = new LimitedBuffer(limit);
  // The compressed size has a limit too, because empty blocks add nothing to the decompressed size.
  const compressedLimit = 2 * limit + 1024;
  let compressed = 0;
  const input = consume(req, 'aborted', (chunk) => {
    compressed += chunk.length;
    decompressor.write(chunk);
    return compressed <= compressedLimit;
  });
  const output = consume(decompressor, 'corrupt', (chunk) => body.add(chunk));
  try {
    const end = () => {
      // Zero bytes are an empty body with any content encoding.
      if (compressed === 0) decompressor.push(null);
      else decompressor.end();
    };
    await Promise.all([input.done.then(end), output.done]);
    // zlib silently ignores bytes after the end of the compressed data.
    if (decompressor.bytesWritten !== compressed) throw new BodyError('corrupt');
    return body.toBuffer();
  } finally {
    input.stop();
    output.stop();
    decompressor.destroy();
  }
}

interface Consumption {
  done: Promise<void>;
  /** Removes all listeners. Must always be called. */
  stop: () => void;
}

/**
 * Passes each chunk to `take` until the stream ends or `take` returns false.
 * @param failure reason of the error if the stream fails or closes before its end
 */
function consume(
  source: Readable,
  failure: BodyErrorReason,
  take: (chunk: Buffer) => boolean,
): Consumption {
  let stop = (): void => undefined;
  const done = new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      if (take(chunk)) return;
      source.off('data', onData);
      reject(new BodyError('too_large'));
    };
    const onLost = (): void => {
      // Streams also emit `close` after their end.
      if (!source.readableEnded) reject(new BodyError(failure));
    };
    stop = () => {
      source.off('data', onData).off('end', resolve).off('error', onLost).off('close', onLost);
    };
    // A stream that is already destroyed emits no more events.
    if (source.destroyed) onLost();
    source.on('data', onData).on('end', resolve).on('error', onLost).on('close', onLost);
  });
  return { done, stop };
}

/** Collects chunks as long as they stay within the limit. */
class LimitedBuffer {
  private readonly chunks: Buffer[] = [];
  private size = 0;

  constructor(private readonly limit: number) {}

  /** @returns false if the limit is exceeded */
  add(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > this.limit) return false;
    this.chunks.push(chunk);
    return true;
  }

  toBuffer(): Buffer {
    const [first, ...others] = this.chunks;
    return first && others.length === 0 ? first : Buffer.concat(this.chunks, this.size);
  }
}
