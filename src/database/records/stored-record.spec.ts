import { RecordOf } from '../../fields/field.js';
import { DateTime, JsonObject, Text } from '../../fields/kinds.js';
import { Page } from '../../listing/page.js';
import { RecordParser, storedJsonOf, versionOf } from './stored-record.js';

class CreateNoteDto {
  @Text({ max: 100, required: true }) title: string;
  @DateTime() due?: Date | null;
  @JsonObject() facts?: Record<string, unknown>;
}

class NoteDto extends RecordOf(CreateNoteDto) {}

/** As PostgreSQL writes it, and as it is answered. */
const STORED = '{"id":"1","title":"T","due":"2026-01-02T03:04:05.678","facts":{"a":[1, 2.50]}}';
const TEXT = '{"id":"1","title":"T","due":"2026-01-02T03:04:05.678Z","facts":{"a":[1, 2.50]}}';
const DUE = new Date('2026-01-02T03:04:05.678Z');
const PLAIN = { id: '1', title: 'T', due: DUE, facts: { a: [1, 2.5] } };

let note: NoteDto;

beforeEach(() => {
  note = new RecordParser(NoteDto).fromJson(STORED);
});

describe('a record that came as JSON', () => {
  it('is answered by the text as it came, as long as no one has looked into it', async () => {
    expect(storedJsonOf(await Promise.resolve(note))).toBe(TEXT);
    expect(storedJsonOf(note)).toBe(TEXT);
  });

  it.each([
    ['to the second', '05', '05.000Z'],
    ['to a tenth', '05.6', '05.600Z'],
    ['to a hundredth', '05.67', '05.670Z'],
    ['to a thousandth', '05.678', '05.678Z'],
  ])('has three digits and a zone in a time that is stored %s', (_, stored, answered) => {
    const lengthened = new RecordParser(NoteDto).fromJson(STORED.replace('05.678', stored));
    expect(storedJsonOf(lengthened)).toBe(TEXT.replace('05.678Z', answered));
  });

  it.each([
    ['an empty time', (due: string) => `{"id":"1","title":"T","due":null,"facts":{"due": ${due}}}`],
    ['text', () => String.raw`{"id":"1","title":"\"due\":\"05\"","due":null,"facts":{}}`],
  ])('keeps %s as it came, whatever looks like a time in it', (_, record) => {
    const stored = record('"2026-01-02T03:04:05"');
    expect(storedJsonOf(new RecordParser(NoteDto).fromJson(stored))).toBe(stored);
  });

  it('is an ordinary object to whoever looks into it', () => {
    expect({ ...note }).toEqual(PLAIN);
    expect(Object.keys(note)).toEqual(['id', 'title', 'due', 'facts']);
    expect(JSON.parse(JSON.stringify(note))).toEqual(JSON.parse(JSON.stringify(PLAIN)));
    expect('title' in note).toBe(true);
    expect('other' in note).toBe(false);
    expect(note.due).toEqual(DUE);
    expect(note).toEqual(PLAIN);
  });

  it('tells its id without having been read', () => {
    const broken = new RecordParser(NoteDto).fromJson('{"id":"1","title":');
    expect(broken.id).toBe('1');
    expect('id' in broken).toBe(true);
    expect(() => broken.title).toThrow(SyntaxError);
  });

  it('has the version that it was stored as, whatever is made of it', () => {
    const version = versionOf(note);
    expect(version).toMatch(/^[\w-]{43}$/);
    note.title = 'new';
    expect(versionOf(note)).toBe(version);
    const other = new RecordParser(NoteDto).fromJson(STORED.replace('"T"', '"U"'));
    expect(versionOf(other)).not.toBe(version);
    expect(versionOf({ id: '1' })).not.toBe(versionOf({ id: '2' }));
  });

  it('keeps its text where only plain values were read, which no one can change by that', () => {
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
  ])('is answered as it is then, where a field was %s', (_, change) => {
    const expected = structuredClone(PLAIN) as NoteDto;
    change(expected);
    change(note);
    expect(storedJsonOf(note)).toBeUndefined();
    expect(note).toEqual(expected);
  });
});

describe('a page that came as JSON', () => {
  const counts = { page: 1, limit: 2, total: 3 };
  const meta = '{"page":1,"limit":2,"total":3,"total_pages":2}';
  const pageOf = (json: string) => new Page(new RecordParser(NoteDto).listFromJson(json), counts);

  it('is answered by the text as it came, or as its items were changed', () => {
    const page = pageOf(`[${STORED}]`);
    expect(page.text).toBe(`{"data":[${TEXT}],"meta":${meta}}`);
    expect(page.data).toEqual([PLAIN]);
    page.data[0]!.title = 'new';
    expect(JSON.parse(page.text)).toMatchObject({ data: [{ id: '1', title: 'new' }] });
  });

  it('has a complete time in each item that has one', () => {
    const [full, empty] = [STORED, STORED.replace('"2026-01-02T03:04:05.678"', 'null')];
    const page = pageOf(`[${full},${empty},${full}]`);
    expect(page.data.map(({ due }) => due)).toEqual([DUE, null, DUE]);
    const nested = `{"id":"1","facts":{"due": "x"},"title":"T","due":"2026-01-02T03:04:05.678"}`;
    expect(pageOf(`[${nested}]`).text).toContain(
      '"due": "x"},"title":"T","due":"2026-01-02T03:04:05.678Z"}',
    );
  });

  it('may hold items of another origin', () => {
    const page = new Page([{ n: 1 }], counts);
    expect(page.data).toEqual([{ n: 1 }]);
    expect(page.text).toBe(`{"data":[{"n":1}],"meta":${meta}}`);
    expect(JSON.stringify(page)).toBe(page.text);
  });
});

describe('what is no stored record', () => {
  it('has no text', () => {
    expect(storedJsonOf({ id: '1' })).toBeUndefined();
    expect(storedJsonOf([])).toBeUndefined();
  });
});
