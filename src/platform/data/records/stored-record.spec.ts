import { RecordOf } from '../../fields/field.js';
import { DateTime, JsonObject, Text } from '../../fields/kinds/kinds.js';
import { Page } from '../lists/page.js';
import { RecordParser, versionOf } from './stored-record.js';

class CreateNoteDto {
  @Text({ max: 100, required: true }) title: string;
  @DateTime() due?: Date | null;
  @JsonObject() facts?: Record<string, unknown>;
}

class NoteDto extends RecordOf(CreateNoteDto) {}

/** The JSON that PostgreSQL returns, which is that of the response. */
const TEXT = '{"id":"1","title":"T","due":"2026-01-02T03:04:05.678Z","facts":{"a":[1, 2.50]}}';
const DUE = new Date('2026-01-02T03:04:05.678Z');
const PLAIN = { id: '1', title: 'T', due: DUE, facts: { a: [1, 2.5] } };

const parser = new RecordParser(NoteDto);
const storedOf = (json: string) => parser.stored({ id: '1', json });

describe('a stored record', () => {
  it('has the JSON of the response', () => {
    expect(storedOf(TEXT).json).toBe(TEXT);
  });

  it('returns a new plain object at each call', () => {
    const stored = storedOf(TEXT);
    const value = stored.value();
    expect(value).toStrictEqual(PLAIN);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    value.title = 'new';
    expect(stored.value()).toStrictEqual(PLAIN);
    expect(stored.json).toBe(TEXT);
  });

  it('has another version when its JSON differs', () => {
    const { version } = storedOf(TEXT);
    expect(version).toMatch(/^[\w-]{43}$/);
    expect(storedOf(TEXT).version).toBe(version);
    expect(storedOf(TEXT.replace('"T"', '"U"')).version).not.toBe(version);
  });

  it('keeps its version with more fields', () => {
    const stored = storedOf(TEXT);
    const more = stored.with({ secret: 's' });
    expect(more.version).toBe(stored.version);
    expect(more.value()).toStrictEqual({ ...PLAIN, secret: 's' });
    expect(JSON.parse(more.json)).toMatchObject({ title: 'T', secret: 's' });
  });
});

it('the version of a plain record is that of its JSON', () => {
  expect(versionOf({ id: '1' })).toBe(versionOf({ id: '1' }));
  expect(versionOf({ id: '1' })).not.toBe(versionOf({ id: '2' }));
});

describe('a page that was read as JSON', () => {
  const counts = { page: 1, limit: 2, total: 3 };
  const meta = '{"page":1,"limit":2,"total":3,"total_pages":2}';
  const pageOf = (items: string) => new Page(parser.list(items), counts);

  it('is serialized as the stored text, or with the current values of changed items', () => {
    const page = pageOf(TEXT);
    expect(page.text).toBe(`{"data":[${TEXT}],"meta":${meta}}`);
    expect(page.data).toEqual([PLAIN]);
    page.data[0]!.title = 'new';
    expect(JSON.parse(page.text)).toMatchObject({ data: [{ id: '1', title: 'new' }] });
  });

  it('parses the time of each item', () => {
    const empty = TEXT.replace('"2026-01-02T03:04:05.678Z"', 'null');
    const page = pageOf([TEXT, empty, TEXT].join());
    expect(page.data.map(({ due }) => due)).toEqual([DUE, null, DUE]);
  });

  it('serializes items that were not read as JSON', () => {
    const page = new Page([{ n: 1 }], counts);
    expect(page.data).toEqual([{ n: 1 }]);
    expect(page.text).toBe(`{"data":[{"n":1}],"meta":${meta}}`);
    expect(JSON.stringify(page)).toBe(page.text);
  });
});
