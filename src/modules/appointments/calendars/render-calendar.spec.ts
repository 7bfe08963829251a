import { type CalendarItem, renderCalendar } from './render-calendar.js';

const ITEM: CalendarItem = {
  id: '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43',
  start_time: Date.parse('2026-03-02T17:00:00.250Z'),
  end_time: Date.parse('2026-03-02T17:00:00.750Z'),
  type: 'Estimate',
  status: 'scheduled',
  created_at: Date.parse('2026-01-05T16:20:00.123Z'),
  updated_at: Date.parse('2026-01-06T16:20:00.123Z'),
};

const HOSTILE =
  'a,b;c\\d\r\nBEGIN:VEVENT\rEND:VCALENDAR\n\u0000\u0007\u000b\u0085\u2028\u2029ATTENDEE:x';
const HOSTILE_ESCAPED = 'a\\,b\\;c\\\\d\\nBEGIN:VEVENT\\nEND:VCALENDAR\\n      ATTENDEE:x';

const render = (changes: Partial<CalendarItem> = {}, name = 'Crew 1') =>
  renderCalendar({ name, items: [{ ...ITEM, ...changes }] });

/** The lines of a calendar, without folds. */
const linesOf = (text: string) => text.replaceAll('\r\n ', '').split('\r\n');

it('an appointment is an event with its times in UTC', async () => {
  expect(linesOf(await render())).toEqual([
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Latitude//Latitude//EN',
    'NAME:Crew 1',
    'X-WR-CALNAME:Crew 1',
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
    'BEGIN:VEVENT',
    `UID:${ITEM.id}`,
    'SEQUENCE:86400000',
    'DTSTAMP:20260106T162000Z',
    'DTSTART:20260302T170000Z',
    'DTEND:20260302T170001Z',
    'SUMMARY:Estimate',
    'TRANSP:OPAQUE',
    'STATUS:TENTATIVE',
    'CREATED:20260105T162000Z',
    'LAST-MODIFIED:20260106T162000Z',
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]);
});

it.each([
  ['scheduled', 'TENTATIVE', 'OPAQUE'],
  ['confirmed', 'CONFIRMED', 'OPAQUE'],
  ['completed', 'CONFIRMED', 'OPAQUE'],
  ['cancelled', 'CANCELLED', 'TRANSPARENT'],
  ['no_show', 'CANCELLED', 'TRANSPARENT'],
] as const)('the status %s is %s and %s', async (status, expected, transparency) => {
  const lines = linesOf(await render({ status }));
  expect(lines).toEqual(expect.arrayContaining([`STATUS:${expected}`, `TRANSP:${transparency}`]));
});

it('the sequence rises with the time of the last change, for more than thirty years', async () => {
  const { created_at } = ITEM;
  const ages = [0, 1, 2, 999_999_999, 1_000_000_000, 1_000_000_001, 1_000_001_001, 1e12];
  const sequences = [];
  for (const age of ages) {
    const [, sequence] = /SEQUENCE:(\d+)/.exec(await render({ updated_at: created_at + age }))!;
    sequences.push(Number(sequence));
  }
  expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b));
  expect(sequences[0]).toBe(0);
  expect(sequences.at(-1)).toBeLessThan(2 ** 31);
});

it('details are the location, and the name of the lead after the type', async () => {
  const details = { location: '12 Pier Street', lead_name: 'Grace Hopper' };
  const lines = linesOf(await render(details));
  expect(lines).toEqual(
    expect.arrayContaining(['SUMMARY:Estimate – Grace Hopper', 'LOCATION:12 Pier Street']),
  );
  const without = linesOf(await render({ type: null, location: null, lead_name: null }));
  expect(without).toContain('SUMMARY:Appointment');
  expect(without.join()).not.toContain('LOCATION');
});

it('texts add no lines, properties or control characters', async () => {
  const text = await render({ type: HOSTILE, location: HOSTILE, lead_name: HOSTILE }, HOSTILE);
  const lines = linesOf(text);
  expect(lines.filter((line) => /^(BEGIN|END|ATTENDEE)/.test(line))).toEqual([
    'BEGIN:VCALENDAR',
    'BEGIN:VEVENT',
    'END:VEVENT',
    'END:VCALENDAR',
  ]);
  expect(lines).toEqual(
    expect.arrayContaining([
      `NAME:${HOSTILE_ESCAPED}`,
      `LOCATION:${HOSTILE_ESCAPED}`,
      `SUMMARY:${HOSTILE_ESCAPED} – ${HOSTILE_ESCAPED}`,
    ]),
  );
  // oxlint-disable-next-line no-control-regex
  expect(text.replaceAll('\r\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
});

it('lines have at most 75 octets, and none ends within a character', async () => {
  const type = 'ä€😀'.repeat(40);
  const name = `${'x'.repeat(70)}😀${'é'.repeat(100)}`;
  const text = await render({ type, location: `a${type}` }, name);
  const lines = Buffer.from(text).toString('latin1').split('\r\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(75);
  for (const line of lines) {
    const bytes = Buffer.from(line, 'latin1');
    expect(Buffer.from(bytes.toString('utf8'))).toEqual(bytes);
  }
  expect(linesOf(text)).toEqual(
    expect.arrayContaining([`SUMMARY:${type}`, `LOCATION:a${type}`, `X-WR-CALNAME:${name}`]),
  );
});

it('a calendar without appointments is complete', async () => {
  const text = await renderCalendar({ name: 'Crew 1', items: [] });
  expect(text).toMatch(/^BEGIN:VCALENDAR\r\n.*END:VCALENDAR\r\n$/s);
});
