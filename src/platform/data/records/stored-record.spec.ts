import { inspect } from 'node:util';
import { isProxy } from 'node:util/types';
import { RecordOf } from '../../fields/field.js';
import { DateTime, JsonObject, Text } from '../../fields/kinds/kinds.js';
import { Page } from '../lists/page.js';
import {
  extendRecord,
  plainRecordOf,
  RecordParser,
  storedJsonOf,
  versionOf,
} from './stored-record.js';

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

describe('a record', () => {
  const note = parser.fromJson(STORED);

  it('is a plain object to inspections, comparisons and copies', () => {
    expect(isProxy(note)).toBe(false);
    expect(Object.getPrototypeOf(note)).toBe(Object.prototype);
    expect(Reflect.ownKeys(note)).toEqual(['id', 'title', 'due', 'facts']);
    expect(inspect(note, { showHidden: true })).toBe(inspect(PLAIN, { showHidden: true }));
    expect(note).toStrictEqual(PLAIN);
    expect(structuredClone(note)).toStrictEqual(PLAIN);
    expect({ ...note }).toStrictEqual(PLAIN);
    expect(JSON.stringify(note)).toBe(JSON.stringify(PLAIN));
    expect('title' in note).toBe(true);
  });

  it('has the version of its stored text, also after a change', () => {
    const changed = parser.fromJson(STORED);
    changed.title = 'new';
    expect(versionOf(changed)).toBe(versionOf(parser.lazyFromJson(STORED)));
  });

  it('gives its version to a copy with additional fields', () => {
    const extended = extendRecord(note, { secret: 's' });
    expect(extended).toStrictEqual({ ...PLAIN, secret: 's' });
    expect(versionOf(extended)).toBe(versionOf(note));
  });
});

describe('a record that is parsed at the first access', () => {
  let note: NoteDto;

  beforeEach(() => {
    note = parser.lazyFromJson(STORED);
  });

  it('is serialized as the stored text if no field was read', async () => {
    expect(storedJsonOf(await Promise.resolve(note))).toBe(TEXT);
    expect(storedJsonOf(note)).toBe(TEXT);
  });

  it.each([
    ['to the second', '05', '05.000Z'],
    ['to a tenth', '05.6', '05.600Z'],
    ['to a hundredth', '05.67', '05.670Z'],
    ['to a thousandth', '05.678', '05.678Z'],
  ])(
    'completes a time that is stored %s to milliseconds with a time zone',
    (_, stored, answered) => {
      const lengthened = parser.lazyFromJson(STORED.replace('05.678', stored));
      expect(storedJsonOf(lengthened)).toBe(TEXT.replace('05.678Z', answered));
    },
  );

  it.each([
    ['an empty time', (due: string) => `{"id":"1","title":"T","due":null,"facts":{"due": ${due}}}`],
    ['text', () => String.raw`{"id":"1","title":"\"due\":\"05\"","due":null,"facts":{}}`],
  ])('does not change %s that resembles a time', (_, record) => {
    const stored = record('"2026-01-02T03:04:05"');
    expect(storedJsonOf(parser.lazyFromJson(stored))).toBe(stored);
  });

  it('behaves like an ordinary object when its fields are read', () => {
    expect({ ...note }).toEqual(PLAIN);
    expect(Object.keys(note)).toEqual(['id', 'title', 'due', 'facts']);
    expect(JSON.parse(JSON.stringify(note))).toEqual(JSON.parse(JSON.stringify(PLAIN)));
    expect('title' in note).toBe(true);
    expect('other' in note).toBe(false);
    expect(note.due).toEqual(DUE);
    expect(note).toEqual(PLAIN);
  });

  it.each([
    ['unread', () => undefined],
    ['after a field was read', (record: NoteDto) => record.title],
    ['after a change', (record: NoteDto) => (record.title = 'T')],
  ])('is a plain object for the code of a team, %s', (_, read) => {
    read(note);
    expect(plainRecordOf(note)).toStrictEqual(PLAIN);
    expect(isProxy(plainRecordOf(note))).toBe(false);
  });

  it('returns its id without parsing the JSON', () => {
    const broken = parser.lazyFromJson('{"id":"1","title":');
    expect(broken.id).toBe('1');
    expect('id' in broken).toBe(true);
    expect(() => broken.title).toThrow(SyntaxError);
  });

  it('has the version of its stored text, also after a change', () => {
    const version = versionOf(note);
    expect(version).toMatch(/^[\w-]{43}$/);
    note.title = 'new';
    expect(versionOf(note)).toBe(version);
    const other = parser.lazyFromJson(STORED.replace('"T"', '"U"'));
    expect(versionOf(other)).not.toBe(version);
    expect(versionOf({ id: '1' })).not.toBe(versionOf({ id: '2' }));
  });

  it('keeps its text when only primitive values were read', () => {
    expect([note.id, note.title]).toEqual(['1', 'T']);
    expect(storedJsonOf(note)).toBe(TEXT);
  });

  it.each<[string, (changed: NoteDto) => unknown]>([
    ['set', (changed) => (changed.title = 'new')],
    ['defined', (changed) => Object.defineProperty(changed, 'title', { value: 'new' })],
    ['assigned', (changed) => Object.assign(changed, { title: 'new' })],
    ['added', (changed) => Object.assign(changed, { more: 1 })],
    ['deleted', (changed) => Reflect.deleteProperty(changed, 'title')],
    ['changed inside', (changed) => (changed.facts.a = 'new')],
    ['changed in a copy that shares it', (changed) => ({ ...changed }).due!.setTime(0)],
  ])('is serialized with its current values when a field was %s', (_, change) => {
    const expected = structuredClone(PLAIN) as NoteDto;
    change(expected);
    change(note);
    expect(storedJsonOf(note)).toBeUndefined();
    expect(note).toEqual(expected);
  });
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

describe('storedJsonOf an ordinary object or array', () => {
  it('returns undefined', () => {
    expect(storedJsonOf({ id: '1' })).toBeUndefined();
    expect(storedJsonOf([])).toBeUndefined();
  });
});
