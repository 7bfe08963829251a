import fc, { type Arbitrary } from 'fast-check';
import type { RawRequest } from '../../../src/testing/raw-http.js';
import { ROUTES } from '../../../src/testing/routes.js';
import { jsonValues } from './json.js';
import { NAUGHTY, texts } from './texts.js';

/** Existing values that generated requests can use. */
export interface RequestContext {
  readonly key: string;
  /** Ids of records, including existing ones. */
  readonly ids: readonly string[];
  /** Names of parameters and fields. */
  readonly names: readonly string[];
  /** Valid bodies. */
  readonly bodies: readonly object[];
}

const METHODS = ['GET', 'GET', 'POST', 'POST', 'PUT', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];

/** Characters that a request line can contain without encoding. */
const VISIBLE = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 30,
});

/** Characters that a header can contain. */
const HEADER_VALUES = fc
  .oneof(
    VISIBLE,
    fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
    }),
  )
  .map((text) => text.replaceAll('\x7f', '~'));

const CONTENT_TYPES = [
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  'application/json;',
  'APPLICATION/JSON',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
];

/** Requests that the parser of Node.js accepts, most of which resemble valid ones. */
export function requests(world: RequestContext): Arbitrary<RawRequest> {
  return fc
    .record({
      method: fc.constantFrom(...METHODS),
      path: fc.tuple(paths(world), queries(world)).map((parts) => parts.join('')),
      headers: headers(world),
      body: bodies(world),
    })
    .map(({ body, ...request }) => ({
      ...request,
      // Without a length, Node.js would send the body of a GET as the next request.
      headers: [...request.headers, ...(body ? ['Content-Length', String(body.length)] : [])],
      body,
    }));
}

function paths({ ids }: RequestContext): Arbitrary<string> {
  const known = [...new Set([...ROUTES.map(({ pattern }) => pattern), '/mcp'])];
  const id = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...ids) },
    { weight: 1, arbitrary: fc.uuid() },
    { weight: 1, arbitrary: texts(50).map(encodeURIComponent) },
    { weight: 1, arbitrary: VISIBLE },
  );
  const filled = fc
    .tuple(fc.constantFrom(...known), id)
    .map(([pattern, one]) => pattern.replace(':id', () => one));
  const altered = fc
    .tuple(filled, fc.nat(), fc.constantFrom('/', '//', '/..', '%2f', '%', '%00', '%61', ';', '.'))
    .map(([path, at, part]) => {
      const start = 1 + (at % path.length);
      return path.slice(0, start) + part + path.slice(start);
    });
  return fc
    .oneof(
      { weight: 8, arbitrary: filled },
      { weight: 2, arbitrary: altered },
      { weight: 1, arbitrary: VISIBLE.map((text) => `/${text}`) },
    )
    .map((path) => path.replaceAll(/[?#]/g, ''));
}

function queries({ names }: RequestContext): Arbitrary<string> {
  const name = fc.oneof(fc.constantFrom(...names), fc.constantFrom('page[]', '__proto__', 'a.b'));
  const value = fc.oneof(
    fc.constantFrom('1', '0', 'asc', 'open', '2026-01-01', '%', '%ff', '%ed%a0%80', '+', '%00'),
    texts(20).map(encodeURIComponent),
    VISIBLE,
  );
  const pairs = fc.array(
    fc.tuple(name, value).map((pair) => pair.join('=')),
    { maxLength: 3 },
  );
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    { weight: 2, arbitrary: pairs.map((all) => `?${all.join('&')}`) },
    { weight: 1, arbitrary: VISIBLE.map((text) => `?${text}`) },
  );
}

/** Alternating names and values. */
function headers({ key }: RequestContext): Arbitrary<string[]> {
  const authorization = fc.oneof(
    { weight: 12, arbitrary: fc.constant(['Authorization', `Bearer ${key}`]) },
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: HEADER_VALUES.map((value) => ['Authorization', value]) },
    { weight: 1, arbitrary: fc.constant(['Authorization', `bearer  ${key} `]) },
  );
  const type = fc.oneof(
    { weight: 6, arbitrary: fc.constant(['Content-Type', 'application/json']) },
    { weight: 1, arbitrary: fc.constantFrom(...CONTENT_TYPES).map((one) => ['Content-Type', one]) },
    { weight: 1, arbitrary: fc.constant([]) },
  );
  const names = [
    ...['X-Request-Id', 'Accept', 'Accept-Encoding', 'Content-Encoding', 'If-Match', 'Range'],
    ...['Idempotency-Key', 'X-HTTP-Method-Override', 'X-Forwarded-For', 'Cookie', 'Origin'],
    ...['Mcp-Session-Id', 'MCP-Protocol-Version', 'Last-Event-ID', 'If-Modified-Since'],
  ];
  const values = fc.oneof(HEADER_VALUES, fc.constantFrom('gzip', 'identity', '*', 'br', 'DELETE'));
  const others = fc.dictionary(fc.constantFrom(...names), values, { maxKeys: 2 });
  return fc
    .tuple(authorization, type, others)
    .map(([first, second, more]) => [
      ...['Host', 'localhost', ...first, ...second],
      ...Object.entries(more).flat(),
    ]);
}

function bodies({ names, bodies: valid }: RequestContext): Arbitrary<Buffer | undefined> {
  const changed = fc
    .tuple(fc.constantFrom(...valid), fc.dictionary(fc.constantFrom(...names), jsonValues()))
    .map(([body, changes]) => JSON.stringify({ ...body, ...changes }));
  const broken = fc
    .tuple(
      changed,
      fc.nat(),
      fc.constantFrom('', '"', '{', ',', '\0', '\\u0000', '\\ud800', '1e999'),
    )
    .map(([text, at, part]) => {
      const start = at % text.length;
      return text.slice(0, start) + part + text.slice(start + 1);
    });
  const text = fc.oneof(
    { weight: 4, arbitrary: changed },
    { weight: 2, arbitrary: broken },
    { weight: 1, arbitrary: jsonValues().map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom(...NAUGHTY) },
  );
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 6, arbitrary: text.map((body) => Buffer.from(body)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)) },
  );
}
