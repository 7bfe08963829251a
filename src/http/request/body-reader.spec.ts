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
import { type Transform } from 'node:stream';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import { BodyError, isJsonContentType, readBody } from './body-reader.js';

const mockOpened: Transform[] = [];
/** Bytes that the unpackers have given out. */
const mockUnpacked = { bytes: 0 };

jest.mock('node:zlib', () => {
  const zlib = jest.requireActual<Record<string, (...args: unknown[]) => Transform>>('node:zlib');
  const watched = (name: string) => {
    return (...args: unknown[]) => {
      const unpacker = zlib[name]!(...args);
      mockOpened.push(unpacker);
      const push = unpacker.push.bind(unpacker);
      unpacker.push = (chunk: Buffer | null) => {
        mockUnpacked.bytes += chunk?.length ?? 0;
        return push(chunk);
      };
      return unpacker;
    };
  };
  const names = ['createGunzip', 'createInflate', 'createBrotliDecompress'];
  return { ...zlib, ...Object.fromEntries(names.map((name) => [name, watched(name)])) };
});

const LIMIT = 1000;
const TEXT = Buffer.from('{"first_name":"Zoë"}');
const PACKERS = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: (bytes: Buffer) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};
const CODINGS = Object.keys(PACKERS) as (keyof typeof PACKERS)[];
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
    error instanceof BodyError ? error.reason : String(error),
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

  /** Sends a request to its end and gives the answer, or what the reader reported. */
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
    expect(mockOpened.filter((unpacker) => !unpacker.destroyed)).toEqual([]);
    return outcome;
  };

  const sendPacked = (coding: string, ...chunks: Buffer[]): Promise<string> =>
    send({ headers: { 'content-encoding': coding }, chunks });

  /** Opens a connection, sends the text as it stands and leaves the connection open. */
  const open = async (...parts: (string | Buffer)[]): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    for (const part of parts) socket.write(part);
    return socket;
  };

  const untilRequest = async (): Promise<void> => {
    await once(server, 'request');
  };

  describe('plain', () => {
    it.each<[string, Sent, string]>([
      ['no body', {}, ''],
      ['a GET', { method: 'GET' }, ''],
      [
        'a declared length',
        { headers: { 'content-length': TEXT.length }, chunks: [TEXT] },
        TEXT.toString(),
      ],
      ['chunks', { chunks: [TEXT, TEXT, TEXT] }, TEXT.toString().repeat(3)],
      [
        'identity',
        { headers: { 'content-encoding': 'Identity' }, chunks: [TEXT] },
        TEXT.toString(),
      ],
      [
        'an empty content-encoding',
        { headers: { 'content-encoding': '' }, chunks: [TEXT] },
        TEXT.toString(),
      ],
      ['single bytes', { chunks: [...TEXT].map((byte) => Buffer.from([byte])) }, TEXT.toString()],
    ])('reads %s', async (_what, sent, expected) => {
      expect(await send(sent)).toBe(expected);
      await lastOutcome();
    });

    it('reads bytes as they are', async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
      await send({ chunks: [bytes] });
      expect((await lastOutcome()).result).toEqual(bytes);
    });

    it.each([
      ['declared', { 'content-length': LIMIT }],
      ['in chunks', {}],
    ])('reads as much as the limit allows, %s', async (_how, headers) => {
      expect(await send({ headers, chunks: [Buffer.alloc(LIMIT, 'a')] })).toHaveLength(LIMIT);
    });

    it.each([
      ['declared', { 'content-length': LIMIT + 1 }],
      ['in chunks', {}],
    ])('refuses one byte more, %s', async (_how, headers) => {
      expect(await send({ headers, chunks: [Buffer.alloc(LIMIT + 1)] })).toBe('too_large');
      await lastOutcome();
    });

    it('refuses a declared length over the limit before any of the body is there', async () => {
      const socket = await open(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${LIMIT + 1}\r\n\r\n`,
      );
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 [^]*too_large/);
      socket.destroy();
    });
  });

  describe.each(CODINGS)('%s', (coding) => {
    const pack = PACKERS[coding];

    it('is unpacked', async () => {
      expect(await sendPacked(coding, pack(TEXT))).toBe(TEXT.toString());
      await lastOutcome();
    });

    it.each([coding.toUpperCase(), ` ${coding} `])('is known as %j', async (name) => {
      expect(await sendPacked(name, pack(TEXT))).toBe(TEXT.toString());
    });

    it('is unpacked byte by byte', async () => {
      const bytes = [...pack(TEXT)].map((byte) => Buffer.from([byte]));
      expect(await sendPacked(coding, ...bytes)).toBe(TEXT.toString());
    });

    it('may unpack to nothing', async () => {
      expect(await sendPacked(coding, pack(Buffer.alloc(0)))).toBe('');
    });

    it('is empty where it has zero bytes', async () => {
      expect(await sendPacked(coding)).toBe('');
    });

    it('may unpack to the limit and no further', async () => {
      expect(await sendPacked(coding, pack(Buffer.alloc(LIMIT, 'a')))).toHaveLength(LIMIT);
      expect(await sendPacked(coding, pack(Buffer.alloc(LIMIT + 1)))).toBe('too_large');
      await lastOutcome();
    });

    it.each<[string, Buffer[]]>([
      ['plain text', [TEXT]],
      ['data cut off', [pack(TEXT).subarray(0, -3)]],
      ['bytes after the end', [pack(TEXT), Buffer.from('more')]],
      ['zeros after the end', [Buffer.concat([pack(TEXT), Buffer.alloc(8)])]],
      ['bytes long after the end', [pack(TEXT), ...Array<Buffer>(50).fill(Buffer.alloc(10))]],
    ])('is refused as corrupt with %s', async (_what, chunks) => {
      expect(await sendPacked(coding, ...chunks)).toBe('corrupt');
      await lastOutcome();
    });

    it('is stopped at the limit long before a bomb has gone off', async () => {
      limit = 256 * 1024;
      const bomb = pack(Buffer.alloc(200 * 1024 * 1024));
      mockUnpacked.bytes = 0;
      expect(await sendPacked(coding, bomb)).toBe('too_large');
      await lastOutcome();
      expect(mockUnpacked.bytes).toBeGreaterThan(limit);
      expect(mockUnpacked.bytes).toBeLessThan(2 * limit);
    });

    it('is stopped at the limit before the rest has arrived', async () => {
      const socket = await open(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: ${coding}\r\nContent-Length: 5000\r\n\r\n`,
        pack(Buffer.alloc(10 * LIMIT)),
      );
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).toMatch(/too_large$/);
      await lastOutcome();
      socket.destroy();
    });

    it('is refused as aborted when the client leaves', async () => {
      const arrived = untilRequest();
      const socket = await open(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: ${coding}\r\nContent-Length: 5000\r\n\r\n`,
        pack(TEXT),
      );
      await arrived;
      socket.destroy();
      expect((await lastOutcome()).result).toBe('aborted');
    });
  });

  describe('encodings', () => {
    it('knows x-gzip and several gzip members', async () => {
      const twice = Buffer.concat([gzipSync(TEXT), gzipSync(TEXT)]);
      expect(await sendPacked('x-gzip', twice)).toBe(TEXT.toString().repeat(2));
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
    ])('refuses %j', async (coding) => {
      expect(await sendPacked(coding, gzipSync(TEXT))).toBe('unsupported_encoding');
      await lastOutcome();
    });

    it('refuses two headers', async () => {
      const headers = { 'Content-Encoding': ['gzip', 'gzip'] };
      expect(await send({ headers, chunks: [gzipSync(TEXT)] })).toBe('unsupported_encoding');
    });

    it('refuses a bad checksum', async () => {
      const packed = gzipSync(TEXT);
      packed.writeUInt32LE(packed.readUInt32LE(packed.length - 8) ^ 1, packed.length - 8);
      expect(await sendPacked('gzip', packed)).toBe('corrupt');
    });

    it('refuses deflate without its zlib header', async () => {
      expect(await sendPacked('deflate', deflateRawSync(TEXT))).toBe('corrupt');
    });

    it('refuses endless blocks that unpack to nothing', async () => {
      const header = gzipSync(Buffer.alloc(0)).subarray(0, 10);
      const blocks = Array<Buffer>(2000).fill(ALMOST_EMPTY_BLOCK);
      expect(await sendPacked('gzip', header, Buffer.concat(blocks))).toBe('too_large');
      await lastOutcome();
    });
  });

  describe('a client that leaves', () => {
    it.each([
      ['within the declared length', 'Content-Length: 500\r\n\r\nabc'],
      ['before the first byte', 'Content-Length: 500\r\n\r\n'],
      ['within a chunk', 'Transfer-Encoding: chunked\r\n\r\n5\r\nabc'],
      ['before the last chunk', 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    ])('is noticed: %s', async (_when, rest) => {
      const arrived = untilRequest();
      const socket = await open(`POST / HTTP/1.1\r\nHost: x\r\n${rest}`);
      await arrived;
      socket.destroy();
      expect((await lastOutcome()).result).toBe('aborted');
    });

    it('is noticed when it closes its side only', async () => {
      const arrived = untilRequest();
      const socket = await open('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\nabc');
      await arrived;
      socket.end();
      expect((await lastOutcome()).result).toBe('aborted');
      socket.destroy();
    });

    it.each(['abc', 'abcde'])(
      'is noticed when it left before the reading, after %j',
      async (body) => {
        beforeReading = (req) => new Promise((resolve) => req.once('close', resolve));
        const arrived = untilRequest();
        const socket = await open(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n${body}`);
        await arrived;
        socket.destroy();
        expect((await lastOutcome()).result).toBe('aborted');
      },
    );

    it('does no harm while a refused body is drained', async () => {
      const socket = await open(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n${'a'.repeat(5000)}`,
      );
      await once(socket, 'data');
      socket.resetAndDestroy();
      expect((await lastOutcome()).result).toBe('too_large');
      expect(await send({ chunks: [TEXT] })).toBe(TEXT.toString());
    });
  });

  describe('after a refusal', () => {
    const large = Buffer.alloc(2_000_000);
    const refusals: [string, OutgoingHttpHeaders, Buffer, string][] = [
      ['a declared length', { 'content-length': large.length }, large, 'too_large'],
      ['chunks', {}, large, 'too_large'],
      ['a bomb', { 'content-encoding': 'gzip' }, gzipSync(large), 'too_large'],
      ['noise', { 'content-encoding': 'gzip' }, large.subarray(0, 3000), 'corrupt'],
      ['an unknown encoding', { 'content-encoding': 'zstd' }, large, 'unsupported_encoding'],
    ];

    it.each(refusals)(
      'of %s the connection serves the next request',
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

    it.each(refusals)('of %s the body is drained without an answer', async (...refusal) => {
      const [, headers, body, reason] = refusal;
      beforeAnswering = async (req) => {
        if (!req.readableEnded) await once(req, 'end');
      };
      expect(await send({ headers, chunks: [body] })).toBe(reason);
    });
  });

  it('says nothing of the body in its errors', async () => {
    await sendPacked('gzip', TEXT);
    expect(new BodyError('corrupt')).toMatchObject({
      name: 'BodyError',
      reason: 'corrupt',
      message: 'The compressed body is damaged or incomplete.',
    });
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
  ])('takes %j', (header) => {
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
  ])('refuses %j', (header) => {
    expect(isJsonContentType(header)).toBe(false);
  });

  it.each(['application/json' + ';'.repeat(16_000), `application/json${'; a="'.repeat(3000)}`])(
    'stays quick on a long header',
    (header) => {
      // Processor time: how busy the machine is does not matter.
      const start = process.cpuUsage();
      isJsonContentType(header);
      expect(process.cpuUsage(start).user / 1_000).toBeLessThan(200);
    },
  );
});
