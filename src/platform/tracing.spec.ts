import { readTraceparent, statementSpan, traceOfLog } from './tracing.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('readTraceparent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    [`00-${TRACE}-${SPAN}-00`, `00-${TRACE}-${SPAN}-00`],
    // Later versions can have more parts, and are passed on as version 00.
    [`01-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-01`],
    [`cc-${TRACE}-${SPAN}-01-what-comes-later`, `00-${TRACE}-${SPAN}-01`],
  ])('reads %s', (traceparent, expected) => {
    expect(readTraceparent({ traceparent })).toBe(expected);
  });

  it.each([
    undefined,
    '',
    [`00-${TRACE}-${SPAN}-01`],
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}0-${SPAN}-01`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-0g`,
  ])('ignores %j', (traceparent) => {
    expect(readTraceparent({ traceparent })).toBeUndefined();
  });
});

describe('traceOfLog', () => {
  it('names the trace and the span', () => {
    expect(traceOfLog(`00-${TRACE}-${SPAN}-01`)).toEqual({ trace_id: TRACE, span_id: SPAN });
    expect(traceOfLog(null)).toEqual({});
  });
});

describe('statementSpan', () => {
  it.each([
    [
      'select extract(epoch from expires_at - now()) as ms from api_keys where id = $1',
      'SELECT api_keys',
    ],
    ['select a is distinct from b from leads', 'SELECT leads'],
    ["select 1 from unnest($1::uuid[]) join leads on true, tasks where a = 'from x'", 'SELECT'],
    ['delete from jobs where id = $1', 'DELETE jobs'],
  ])('names the table of %s', (text, name) => {
    expect(statementSpan(text)().name).toBe(name);
  });
});
