import { formatRows } from './rows.js';

const KEYS = [
  { id: 1, name: 'n8n', scopes: ['leads:read', 'tasks:read'], expires_at: null },
  { id: 22, name: '日本', scopes: [], expires_at: '2026-12-01T00:00:00.000Z' },
];

const EVENT = {
  id: 'evt_1',
  actor: { type: 'key', key: { id: 'k1' } },
  record: { id: 'r1', tags: ['a', 'b'], custom_fields: {}, notes: 'one two three four five six' },
};

describe('rows on a terminal', () => {
  it('are a table if it fits', () => {
    expect(formatRows(KEYS, 80)).toBe(
      [
        'id  name  scopes                 expires_at',
        '--  ----  ---------------------  ------------------------',
        '1   n8n   leads:read,tasks:read',
        '22  日本                         2026-12-01T00:00:00.000Z',
        '',
      ].join('\n'),
    );
  });

  it('are lines of a name and a wrapped value if a table would not fit', () => {
    expect(formatRows([EVENT], 44)).toBe(
      [
        'id                    evt_1',
        'actor.type            key',
        'actor.key.id          k1',
        'record.id             r1',
        'record.tags           a,b',
        'record.custom_fields  {}',
        'record.notes          one two three four',
        '                      five six',
        '',
        '',
      ].join('\n'),
    );
  });

  it('are never wider than the terminal', () => {
    const rows = [{ name: 'x'.repeat(300), list: Array.from({ length: 40 }, (_, n) => `s${n}`) }];
    const lines = formatRows([...rows, ...KEYS], 60).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(lines.join('').replaceAll(' ', '')).toContain('x'.repeat(53));
  });

  it('are a sentence if there are none', () => {
    expect(formatRows([], 80)).toBe('Nothing to list.\n');
  });

  it('show control characters as escapes', () => {
    expect(formatRows([{ name: 'a\u001b[31mb\nc' }], 80)).toContain('a\\u001b[31mb\\nc');
  });
});

describe('rows in a pipe', () => {
  it('are complete, one a line, with columns between tabs', () => {
    expect(formatRows([...KEYS, { id: 3, name: 'x'.repeat(300) }])).toBe(
      [
        'id\tname\tscopes\texpires_at',
        '1\tn8n\tleads:read,tasks:read\t',
        '22\t日本\t\t2026-12-01T00:00:00.000Z',
        `3\t${'x'.repeat(300)}\t\t`,
        '',
      ].join('\n'),
    );
  });

  it('have objects as JSON', () => {
    const [, line] = formatRows([EVENT]).split('\n');
    const [id, actor, record] = line!.split('\t');
    expect([id, JSON.parse(actor!), JSON.parse(record!)]).toEqual([
      EVENT.id,
      EVENT.actor,
      EVENT.record,
    ]);
  });

  it('have a list as JSON if a text of it contains a comma', () => {
    expect(formatRows([{ tags: ['a,b', 'c'] }])).toBe('tags\n["a,b","c"]\n');
  });

  it('escape tabs, line breaks and backslashes', () => {
    expect(formatRows([{ name: 'a\tb\nc\\d', n: 1 }])).toBe('name\tn\na\\tb\\nc\\\\d\t1\n');
  });

  it('are nothing if there are none', () => {
    expect(formatRows([])).toBe('');
  });

  it('can be values', () => {
    expect(formatRows(['a', 2])).toBe('value\na\n2\n');
  });
});
