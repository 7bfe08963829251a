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

/** The JSON that PostgreSQL returns, and the JSON of the response. */
const STORED = '{"id":"1","title":"T","due":"2026-01-02T03:04:05.678","facts":{"a":[1, 2.50]}}';
const TEXT = '{"id":"1","title":"T","due":"2026-01-02T03:04:05.678Z","facts":{"a":[1, 2.50]}}';
const DUE = new Date('2026-01-02T03:04:05.678Z');
const PLAIN = { id: '1', title: 'T', due: DUE, facts: { a: [1, 2.5] } };

const parser = new RecordParser(NoteDto);
const storedOf = (json: string) => parser.stored({ id: '1', json });

describe('a stored record', () => {
  it('has the JSON of the response', () => {
    expect(storedOf(STORED).json).toBe(TEXT);
  });

  it.each([
    ['to the second', '05', '05.000Z'],
    ['to a tenth', '05.6', '05.600Z'],
    ['to a hundredth', '05.67', '05.670Z'],
    ['to a thousandth', '05.678', '05.678Z'],
  ])(
    'completes a time that is stored %s to milliseconds with a time zone',
    (_, stored, answered) => {
      const { json } = storedOf(STORED.replace('05.678', stored));
      expect(json).toBe(TEXT.replace('05.678Z', answered));
    },
  );

  it.each([
    ['an empty time', (due: string) => `{"id":"1","title":"T","due":null,"facts":{"due": ${due}}}`],
    ['text', () => String.raw`{"id":"1","title":"\"due\":\"05\"","due":null,"facts":{}}`],
  ])('does not change %s that resembles a time', (_, record) => {
    const stored = record('"2026-01-02T03:04:05"');
    expect(storedOf(stored).json).toBe(stored);
  });

  it('returns a new plain object at each call', () => {
    const stored = storedOf(STORED);
    const value = stored.value();
    expect(value).toStrictEqual(PLAIN);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    value.title = 'new';
    expect(stored.value()).toStrictEqual(PLAIN);
    expect(stored.json).toBe(TEXT);
  });

  it('has another version when its JSON differs', () => {
    const { version } = storedOf(STORED);
    expect(version).toMatch(/^[\w-]{43}$/);
    expect(storedOf(STORED).version).toBe(version);
    expect(storedOf(STORED.replace('"T"', '"U"')).version).not.toBe(version);
  });

  it('keeps its version with more fields', () => {
    const stored = storedOf(STORED);
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
  const pageOf = (json: string) => new Page(parser.listFromJson(json), counts);

  it('is serialized as the stored text, or with the current values of changed items', () => {
    const page = pageOf(`[${STORED}]`);
    expect(page.text).toBe(`{"data":[${TEXT}],"meta":${meta}}`);
    expect(page.data).toEqual([PLAIN]);
    page.data[0]!.title = 'new';
    expect(JSON.parse(page.text)).toMatchObject({ data: [{ id: '1', title: 'new' }] });
  });

  it('completes the time of each item', () => {
    const [full, empty] = [STORED, STORED.replace('"2026-01-02T03:04:05.678"', 'null')];
    const page = pageOf(`[${full},${empty},${full}]`);
    expect(page.data.map(({ due }) => due)).toEqual([DUE, null, DUE]);
    const nested = `{"id":"1","facts":{"due": "x"},"title":"T","due":"2026-01-02T03:04:05.678"}`;
    expect(pageOf(`[${nested}]`).text).toContain(
      '"due": "x"},"title":"T","due":"2026-01-02T03:04:05.678Z"}',
    );
  });

  it('serializes items that were not read as JSON', () => {
    const page = new Page([{ n: 1 }], counts);
    expect(page.data).toEqual([{ n: 1 }]);
    expect(page.text).toBe(`{"data":[{"n":1}],"meta":${meta}}`);
    expect(JSON.stringify(page)).toBe(page.text);
  });
});
