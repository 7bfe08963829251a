import { performance } from 'node:perf_hooks';
import { Readable, type Transform } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { ApiRequest } from './api-request.js';
import { LARGE_BYTES, readJsonBytes, isJsonContentType, readBody } from './request-reader.js';
import { once } from 'node:events';
import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { ApiError } from '../../errors/api-error.js';

function requestWith(body: Buffer): ApiRequest {
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
  return Object.assign(Readable.from([body]), { method: 'POST', headers, state: {} }) as never;
}

/** The most bodies that are passed on in one turn of the event loop, if a turn has time for one only. */
async function mostInOneTurn(size: number): Promise<number> {
  await turn();
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 5));
  let passed = 0;
  const reading = Array.from({ length: 4 }, async () => {
    await readJsonBytes(requestWith(Buffer.alloc(size)), LARGE_BYTES);
    passed++;
  });
  let most = 0;
  for (let before = 0; before < reading.length; before = passed) {
    await turn();
    most = Math.max(most, passed - before);
  }
  clock.mockRestore();
  return most;
}

describe('bodies that arrive together', () => {
  it('are passed on one after another if they are large', async () => {
    expect(await mostInOneTurn(LARGE_BYTES)).toBeLessThanOrEqual(2);
  });

  it('are passed on together if they are small', async () => {
    expect(await mostInOneTurn(LARGE_BYTES - 1)).toBe(4);
  });
});

describe('isJsonContentType', () => {
  it.each([
    'application/json',
    'Application/JSON',
    ' application/json ',
    'application/json;charset=utf-8',
    'application/json; charset=utf-8',
    'application/json ; charset=UTF-8',
    'application/json; charset=utf8',
    'application/json; charset="UTF8"',
    'application/json;\tCharset="Utf-8"',
    'application/json; charset="\\u\\tf-8"',
    'application/json; charset=utf-8; charset=UTF-8',
    'application/json; profile="https://example.com/a;charset=latin1"',
    'application/json; profile="\\";charset=latin1"; charset=utf-8',
    'application/json; odata=verbose; charset=utf-8',
    'application/json;',
    'application/json; ; charset=utf-8;',
  ])('accepts %j', (header) => {
    expect(isJsonContentType(header)).toBe(true);
  });

  it.each([
    undefined,
    '',
    'json',
    'text/json',
    'text/plain',
    'application/jsonp',
    'application/json5',
    'application/x-json',
    'application/problem+json',
    'application/vnd.api+json',
    'application/json+x',
    'application/json, application/json',
    'application/json application/json',
    'application/ json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json; charset=us-ascii',
    'application/json; charset=iso-8859-1',
    'application/json; charset=',
    'application/json; charset=""',
    "application/json; charset='utf-8'",
    'application/json; charset="utf-8',
    'application/json; charset= utf-8',
    'application/json; charset',
    'application/json; charset=utf-8, latin1',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset=utf-8 x',
    'application/json; a=b; charset=utf-7',
    'application/json charset=utf-8',
    `application/json; a="${'\\'.repeat(50)}`,
  ])('rejects %j', (header) => {
    expect(isJsonContentType(header)).toBe(false);
  });

  it.each(['application/json' + ';'.repeat(64_000), `application/json${'; a="'.repeat(12_000)}`])(
    'stays quick on a long header',
    (header) => {
      // CPU time does not depend on the load of the machine.
      const start = process.cpuUsage();
      isJsonContentType(header);
      expect(process.cpuUsage(start).user / 1_000).toBeLessThan(2_000);
    },
  );

  it('refuses a header of more than 1,024 characters', () => {
    const longest = `application/json${';'.repeat(1_008)}`;
    expect(isJsonContentType(longest)).toBe(true);
    expect(isJsonContentType(`${longest};`)).toBe(false);
  });
});

const mockOpened: Transform[] = [];
/** Bytes that were decompressed. */
const mockDecompressed = { bytes: 0 };

jest.mock('node:zlib', () => {
  const zlib = jest.requireActual<Record<string, (...args: unknown[]) => Transform>>('node:zlib');
  const watched = (name: string) => {
    return (...args: unknown[]) => {
      const decompressor = zlib[name]!(...args);
      mockOpened.push(decompressor);
      const push = decompressor.push.bind(decompressor);
      decompressor.push = (chunk: Buffer | null) => {
        mockDecompressed.bytes += chunk?.length ?? 0;
        return push(chunk);
      };
      return decompressor;
    };
  };
  const names = ['createGunzip', 'createInflate', 'createBrotliDecompress'];
  return { ...zlib, ...Object.fromEntries(names.map((name) => [name, watched(name)])) };
});

const LIMIT = 1000;
const TEXT = Buffer.from('{"first_name":"Zoë"}');
const COMPRESSORS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes: Buffer) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};
const CODINGS = Object.keys(COMPRESSORS) as (keyof typeof COMPRESSORS)[];
const ALMOST_EMPTY_BLOCK = Buffer.from('000000ffff', 'hex');

interface Outcome {
  result: Buffer | string;
  leftOverListeners: string[];
}

interface Sent {
  headers?: OutgoingHttpHeaders;
  chunks?: Buffer[];
  method?: string;
}

const listenersOf = (req: IncomingMessage): string[] =>
  req.eventNames().flatMap((name) => req.listeners(name).map(() => String(name)));

const read = async (req: IncomingMessage, limit: number): Promise<Outcome> => {
  const before = listenersOf(req);
  const result = await readBody(req, limit).catch((error: unknown) =>
    error instanceof ApiError ? error.code : String(error),
  );
  return { result, leftOverListeners: listenersOf(req).slice(before.length) };
};

describe('readBody', () => {
  let server: Server;
  let port: number;
  let agent: Agent;
  let outcomes: Promise<Outcome>[];
  let beforeReading: (req: IncomingMessage) => Promise<unknown>;
  let beforeAnswering: (req: IncomingMessage) => Promise<unknown>;
  let limit: number;

  beforeEach(async () => {
    mockOpened.length = 0;
    outcomes = [];
    beforeReading = () => Promise.resolve();
    beforeAnswering = () => Promise.resolve();
    limit = LIMIT;
    agent = new Agent({ keepAlive: true, maxSockets: 1 });
    server = createServer((req, res) => {
      const outcome = beforeReading(req).then(() => read(req, limit));
      outcomes.push(outcome);
      void outcome.then(async ({ result }) => {
        await beforeAnswering(req);
        res.statusCode = typeof result === 'string' ? 400 : 200;
        res.end(result);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });

  afterEach(async () => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  /** Sends a complete request. Returns the response body: the body that was read or the reason of the error. */
  const send = async ({ headers = {}, chunks = [], method = 'POST' }: Sent): Promise<string> => {
    const req = request({ port, host: '127.0.0.1', agent, headers, method });
    const answered = once(req, 'response') as Promise<[IncomingMessage]>;
    for (const chunk of chunks) req.write(chunk);
    req.end();
    const [res] = await answered;
    return Buffer.concat(await res.toArray()).toString();
  };

  const lastOutcome = async (): Promise<Outcome> => {
    const outcome = await outcomes.at(-1)!;
    expect(outcome.leftOverListeners).toEqual([]);
    expect(mockOpened.filter((decompressor) => !decompressor.destroyed)).toEqual([]);
    return outcome;
  };

  const sendCompressed = (coding: string, ...chunks: Buffer[]): Promise<string> =>
    send({ headers: { 'content-encoding': coding }, chunks });

  /** Opens a connection and sends raw data, without closing the connection. */
  const open = async (...parts: (string | Buffer)[]): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    for (const part of parts) socket.write(part);
    return socket;
  };

  const untilRequest = async (): Promise<void> => {
    await once(server, 'request');
  };

  describe('a body without compression', () => {
    const text = TEXT.toString();

    it.each<[string, Sent, string]>([
      ['no body', {}, ''],
      ['a GET', { method: 'GET' }, ''],
      ['a declared length', { headers: { 'content-length': TEXT.length }, chunks: [TEXT] }, text],
      ['chunks', { chunks: [TEXT, TEXT, TEXT] }, text.repeat(3)],
      ['identity', { headers: { 'content-encoding': 'Identity' }, chunks: [TEXT] }, text],
      ['an empty content-encoding', { headers: { 'content-encoding': '' }, chunks: [TEXT] }, text],
      ['single bytes', { chunks: [...TEXT].map((byte) => Buffer.from([byte])) }, text],
    ])('reads %s', async (_what, sent, expected) => {
      expect(await send(sent)).toBe(expected);
      await lastOutcome();
    });

    it('reads any bytes', async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
      await send({ chunks: [bytes] });
      expect((await lastOutcome()).result).toEqual(bytes);
    });

    it.each([
      ['declared', { 'content-length': LIMIT }],
      ['in chunks', {}],
    ])('reads a body of the maximum size, %s', async (_how, headers) => {
      expect(await send({ headers, chunks: [Buffer.alloc(LIMIT, 'a')] })).toHaveLength(LIMIT);
    });

    it.each([
      ['declared', { 'content-length': LIMIT + 1 }],
      ['in chunks', {}],
    ])('rejects a body of one byte more, %s', async (_how, headers) => {
      expect(await send({ headers, chunks: [Buffer.alloc(LIMIT + 1)] })).toBe('payload_too_large');
      await lastOutcome();
    });

    it('rejects a declared length over the limit before the body arrives', async () => {
      const socket = await open(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${LIMIT + 1}\r\n\r\n`,
      );
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 [^]*payload_too_large/);
      socket.destroy();
    });
  });

  describe.each(CODINGS)('%s', (coding) => {
    const compress = COMPRESSORS[coding];

    it('is decompressed', async () => {
      expect(await sendCompressed(coding, compress(TEXT))).toBe(TEXT.toString());
      await lastOutcome();
    });

    it.each([coding.toUpperCase(), ` ${coding} `])('is recognized as %j', async (name) => {
      expect(await sendCompressed(name, compress(TEXT))).toBe(TEXT.toString());
    });

    it('is decompressed byte by byte', async () => {
      const bytes = [...compress(TEXT)].map((byte) => Buffer.from([byte]));
      expect(await sendCompressed(coding, ...bytes)).toBe(TEXT.toString());
    });

    it('can be an empty body', async () => {
      expect(await sendCompressed(coding, compress(Buffer.alloc(0)))).toBe('');
    });

    it('accepts zero bytes as an empty body', async () => {
      expect(await sendCompressed(coding)).toBe('');
    });

    it('is limited after decompression', async () => {
      expect(await sendCompressed(coding, compress(Buffer.alloc(LIMIT, 'a')))).toHaveLength(LIMIT);
      expect(await sendCompressed(coding, compress(Buffer.alloc(LIMIT + 1)))).toBe(
        'payload_too_large',
      );
      await lastOutcome();
    });

    it.each<[string, Buffer[]]>([
      ['plain text', [TEXT]],
      ['truncated data', [compress(TEXT).subarray(0, -3)]],
      ['bytes after the end', [compress(TEXT), Buffer.from('more')]],
      ['zeros after the end', [Buffer.concat([compress(TEXT), Buffer.alloc(8)])]],
      ['bytes long after the end', [compress(TEXT), ...Array<Buffer>(50).fill(Buffer.alloc(10))]],
    ])('is rejected as corrupt: %s', async (_what, chunks) => {
      expect(await sendCompressed(coding, ...chunks)).toBe('validation_error');
      await lastOutcome();
    });

    it('stops decompressing a bomb at the limit', async () => {
      limit = 256 * 1024;
      const bomb = compress(Buffer.alloc(16 * 1024 * 1024));
      mockDecompressed.bytes = 0;
      expect(await sendCompressed(coding, bomb)).toBe('payload_too_large');
      await lastOutcome();
      expect(mockDecompressed.bytes).toBeGreaterThan(limit);
      expect(mockDecompressed.bytes).toBeLessThan(2 * limit);
    });

    it('is aborted when the client closes the connection', async () => {
      const arrived = untilRequest();
      const socket = await open(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: ${coding}\r\nContent-Length: 5000\r\n\r\n`,
        compress(TEXT),
      );
      await arrived;
      socket.destroy();
      expect((await lastOutcome()).result).toBe('validation_error');
    });
  });

  describe('Content-Encoding', () => {
    it('accepts x-gzip and several gzip members', async () => {
      const twice = Buffer.concat([gzipSync(TEXT), gzipSync(TEXT)]);
      expect(await sendCompressed('x-gzip', twice)).toBe(TEXT.toString().repeat(2));
    });

    it.each([
      'zstd',
      'compress',
      'utf-8',
      'gzip, gzip',
      'gzip,gzip',
      'gzip, identity',
      'identity, identity',
      'gzip;q=1',
      'gzip,',
      '*',
      '__proto__',
      'constructor',
    ])('rejects %j', async (coding) => {
      expect(await sendCompressed(coding, gzipSync(TEXT))).toBe('unsupported_media_type');
      await lastOutcome();
    });

    it('rejects two Content-Encoding headers', async () => {
      const headers = { 'Content-Encoding': ['gzip', 'gzip'] };
      expect(await send({ headers, chunks: [gzipSync(TEXT)] })).toBe('unsupported_media_type');
    });

    it('rejects a wrong checksum of gzip', async () => {
      const compressed = gzipSync(TEXT);
      compressed.writeUInt32LE(
        compressed.readUInt32LE(compressed.length - 8) ^ 1,
        compressed.length - 8,
      );
      expect(await sendCompressed('gzip', compressed)).toBe('validation_error');
    });

    it('rejects deflate without its zlib header', async () => {
      expect(await sendCompressed('deflate', deflateRawSync(TEXT))).toBe('validation_error');
    });

    it('rejects endless empty blocks of gzip', async () => {
      const header = gzipSync(Buffer.alloc(0)).subarray(0, 10);
      const blocks = Array<Buffer>(2000).fill(ALMOST_EMPTY_BLOCK);
      expect(await sendCompressed('gzip', header, Buffer.concat(blocks))).toBe('payload_too_large');
      await lastOutcome();
    });
  });

  describe('a client that closes the connection', () => {
    it.each([
      ['within the declared length', 'Content-Length: 500\r\n\r\nabc'],
      ['before the first byte', 'Content-Length: 500\r\n\r\n'],
      ['within a chunk', 'Transfer-Encoding: chunked\r\n\r\n5\r\nabc'],
      ['before the last chunk', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ])('aborts the body: %s', async (_when, rest) => {
      const arrived = untilRequest();
      const socket = await open(`POST / HTTP/1.1\r\nHost: x\r\n${rest}`);
      await arrived;
      socket.destroy();
      expect((await lastOutcome()).result).toBe('validation_error');
    });

    it('aborts the body if it closes only its side', async () => {
      const arrived = untilRequest();
      const socket = await open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nabc');
      await arrived;
      socket.end();
      expect((await lastOutcome()).result).toBe('validation_error');
      socket.destroy();
    });

    it.each(['abc', 'abcde'])(
      'aborts the body if it closed before reading, after %j',
      async (body) => {
        beforeReading = (req) => new Promise((resolve) => req.once('close', resolve));
        const arrived = untilRequest();
        const socket = await open(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n${body}`);
        await arrived;
        socket.destroy();
        expect((await lastOutcome()).result).toBe('validation_error');
      },
    );

    it('does not affect other connections while a rejected body is discarded', async () => {
      const socket = await open(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n${'a'.repeat(5000)}`,
      );
      await once(socket, 'data');
      socket.resetAndDestroy();
      expect((await lastOutcome()).result).toBe('payload_too_large');
      expect(await send({ chunks: [TEXT] })).toBe(TEXT.toString());
    });
  });

  describe('after an error', () => {
    const large = Buffer.alloc(2_000_000);
    const refusals: [string, OutgoingHttpHeaders, Buffer, string][] = [
      ['a declared length', { 'content-length': large.length }, large, 'payload_too_large'],
      ['chunks', {}, large, 'payload_too_large'],
      ['a bomb', { 'content-encoding': 'gzip' }, gzipSync(large), 'payload_too_large'],
      ['noise', { 'content-encoding': 'gzip' }, large.subarray(0, 3000), 'validation_error'],
      ['an unknown encoding', { 'content-encoding': 'zstd' }, large, 'unsupported_media_type'],
    ];

    it.each(refusals)(
      'with %s the connection serves the next request',
      async (_what, headers, body, reason) => {
        const ports = new Set<number | undefined>();
        server.on('connection', (socket) => ports.add(socket.remotePort));
        for (let round = 0; round < 3; round++) {
          expect(await send({ headers, chunks: [body] })).toBe(reason);
          expect(await send({ chunks: [TEXT] })).toBe(TEXT.toString());
        }
        expect(ports.size).toBe(1);
      },
    );

    it.each(refusals)('with %s the body is discarded without a response', async (...refusal) => {
      const [, headers, body, reason] = refusal;
      beforeAnswering = async (req) => {
        if (!req.readableEnded) await once(req, 'end');
      };
      expect(await send({ headers, chunks: [body] })).toBe(reason);
    });
  });
});
